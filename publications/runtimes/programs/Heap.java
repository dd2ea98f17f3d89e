import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;

/** As heap.py; options of the virtual machine choose how it launches. */
final class Heap {
    private Heap() {}

    public static void main(String[] words) throws Exception {
        byte[][] heap = new byte[(int) (Long.parseLong(words[0]) / 1024)][];
        Arrays.setAll(heap, number -> new byte[1008]);
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String word = lines.readLine(); word != null; word = lines.readLine()) {
            if (word.equals("write")) {
                for (byte[] each : heap) each[0]++;
                System.out.println("written");
                continue;
            }
            long began = System.nanoTime();
            Process child = new ProcessBuilder("/bin/true").start();
            long returned = System.nanoTime();
            child.waitFor();
            System.out.println((returned - began) + " " + (System.nanoTime() - began));
        }
    }
}
