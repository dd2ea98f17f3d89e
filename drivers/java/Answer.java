import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/** The answer: a preamble, then frames of blocks (docs/protocol.md). */
final class Answer {
    static final String VERSION = "1";
    private static final int HEAD_BYTES = 16;
    private static final Map<Integer, String> ERRORS = Map.of(
            1, "EPERM", 2, "ENOENT", 7, "E2BIG", 11, "EAGAIN", 12, "ENOMEM", 13, "EACCES", 22, "EINVAL", 24, "EMFILE");

    private Answer() {}

    static byte[] encode(String name, List<Block> blocks, String status, String reason) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes(head("CLNMETER".getBytes(StandardCharsets.US_ASCII), 1));
        for (int index = 0; index < blocks.size(); index++) {
            encode(out, blocks.get(index), index);
        }
        Map<String, Object> ending = new LinkedHashMap<>();
        ending.put("status", status);
        ending.put("reason", reason);
        ending.put("errno", null);
        ending.put("blocks", blocks.size());
        ending.put("driver", name);
        ending.put("version", VERSION);
        ending.put("linkage", null);
        frame(out, "DONE", inJson(ending));
        return out.toByteArray();
    }

    private static void encode(ByteArrayOutputStream out, Block block, int index) {
        List<Map<String, String>> columns = new ArrayList<>();
        ByteBuffer payload = ByteBuffer
                .allocate(block.rows * (Long.BYTES * block.times.size() + Integer.BYTES * block.others.size()))
                .order(ByteOrder.LITTLE_ENDIAN);
        block.times.forEach((name, values) -> {
            columns.add(Map.of("name", name, "type", "i64", "unit", Block.unitOf(name)));
            payload.asLongBuffer().put(values, 0, block.rows);
            payload.position(payload.position() + Long.BYTES * block.rows);
        });
        block.others.forEach((name, values) -> {
            columns.add(Map.of("name", name, "type", "i32", "unit", Block.unitOf(name)));
            payload.asIntBuffer().put(values, 0, block.rows);
            payload.position(payload.position() + Integer.BYTES * block.rows);
        });
        Map<String, Integer> outcomes = new LinkedHashMap<>(Map.of("ok", 0));
        for (int row = 0; row < block.rows; row++) {
            int number = block.others.get("errno")[row];
            outcomes.merge(number == 0 ? "ok" : ERRORS.getOrDefault(number, "errno " + number), 1, Integer::sum);
        }
        CRC32 checksum = new CRC32();
        checksum.update(payload.array());
        Map<String, Object> tail = new LinkedHashMap<>();
        tail.put("status", "ok");
        tail.put("reason", null);
        tail.put("rows", block.rows);
        tail.put("crc32", checksum.getValue());
        tail.put("outcomes", outcomes);
        tail.put("facts", block.facts);
        frame(out, "HEAD", inJson(Map.of("block", index, "workload", block.workload, "temperature", block.temperature,
                "rows", block.rows, "columns", columns)));
        frame(out, "COLS", payload.array());
        frame(out, "TAIL", inJson(tail));
    }

    private static byte[] inJson(Object content) {
        return Json.of(content).getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] head(byte[] first, long second) {
        ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        return head.put(first).putLong(Long.BYTES, second).array();
    }

    private static void frame(ByteArrayOutputStream out, String kind, byte[] payload) {
        out.writeBytes(head(kind.getBytes(StandardCharsets.US_ASCII), payload.length));
        out.writeBytes(payload);
    }
}
