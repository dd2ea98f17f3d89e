import java.util.Arrays;

/** As heap.py; options of the virtual machine choose how it launches. */
final class Heap {
    private Heap() {}

    public static void main(String[] words) throws Exception {
        int launches = Integer.parseInt(words[2]);
        byte[][] heap = new byte[(int) (Long.parseLong(words[1]) / 1024)][];
        Arrays.setAll(heap, number -> new byte[1008]);
        System.out.println("ready");
        System.in.read();
        new ProcessBuilder("/bin/true").start().waitFor();
        for (String kind : new String[] {"written", "untouched"}) {
            for (int number = 0; number < launches; number++) {
                if (kind.equals("written")) {
                    for (byte[] each : heap) each[0]++;
                }
                Thread.sleep(20);
                long began = System.nanoTime();
                Process child = new ProcessBuilder("/bin/true").start();
                long returned = System.nanoTime();
                child.waitFor();
                System.out.println(kind + " " + (returned - began) + " " + (System.nanoTime() - began));
            }
        }
    }
}
