import java.util.Map;

/** JSON of maps, lists, texts, numbers, booleans and null: the standard library has none. */
final class Json {
    private Json() {}

    static String of(Object value) {
        StringBuilder out = new StringBuilder();
        write(out, value);
        return out.toString();
    }

    private static void write(StringBuilder out, Object value) {
        if (value instanceof Map) {
            String between = "{";
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                out.append(between);
                text(out, entry.getKey().toString());
                out.append(':');
                write(out, entry.getValue());
                between = ",";
            }
            out.append(between.equals("{") ? "{}" : "}");
        } else if (value instanceof Iterable) {
            String between = "[";
            for (Object each : (Iterable<?>) value) {
                out.append(between);
                write(out, each);
                between = ",";
            }
            out.append(between.equals("[") ? "[]" : "]");
        } else if (value instanceof CharSequence) {
            text(out, value.toString());
        } else {
            out.append(value);
        }
    }

    private static void text(StringBuilder out, String text) {
        out.append('"');
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\') {
                out.append('\\').append(letter);
            } else if (letter < ' ' || letter > '~') {
                out.append(String.format("\\u%04x", (int) letter));
            } else {
                out.append(letter);
            }
        }
        out.append('"');
    }
}
