package loops;

/** The loop that anyone can check, of Java: {@code Loops WHAT LAUNCHES} prints the ns per launch of 30 parts. */
final class Loops {
    private static final int PARTS = 30;
    private static final int WARMUP_PARTS = 20;

    private Loops() {}

    public static void main(String[] words) throws Exception {
        Launches.Launch launch = Launches.NAMED.get(words[0]);
        int each = Integer.parseInt(words[1]) / PARTS;
        double[] parts = new double[WARMUP_PARTS + PARTS];
        for (int part = 0; part < parts.length; part++) {
            long began = System.nanoTime();
            for (int number = 0; number < each; number++) {
                launch.run();
            }
            parts[part] = (System.nanoTime() - began) / (double) each;
        }
        for (int part = WARMUP_PARTS; part < parts.length; part++) {
            System.out.println(parts[part]);
        }
    }
}
