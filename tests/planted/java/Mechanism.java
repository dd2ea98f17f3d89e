// Runs a tool for each page.
import java.util.ArrayList;
import java.util.List;

public class Mechanism {
    static int launch(int number) throws Exception {
        Process tool = new ProcessBuilder("/bin/true", String.valueOf(number))
                .redirectErrorStream(true)
                .start();
        return tool.waitFor();
    }

    public static void main(String[] words) throws Exception {
        List<byte[]> catalogue = new ArrayList<>();
        for (int number = 0; number < Integer.parseInt(words[1]); number++) {
            byte[] page = new byte[1 << 20];
            java.util.Arrays.fill(page, (byte) (number | 1));
            catalogue.add(page);
        }
        long began = System.nanoTime();
        for (int number = 0; number < Integer.parseInt(words[0]); number++) {
            if (launch(number) != 0) throw new IllegalStateException();
        }
        System.out.println(System.nanoTime() - began);
        System.exit(catalogue.isEmpty() ? 1 : 0);
    }
}
