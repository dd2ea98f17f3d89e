package loops;

import java.util.Map;

/** A thread and a command. */
final class Launches {
    interface Launch {
        void run() throws Exception;
    }

    static final Map<String, Launch> NAMED = Map.of("os_thread", Launches::osThread, "command", Launches::command);

    private Launches() {}

    static void osThread() throws Exception {
        Thread thread = new Thread(() -> {});
        thread.start();
        thread.join();
    }

    static void command() throws Exception {
        new ProcessBuilder("/bin/true").inheritIO().start().waitFor();
    }
}
