//! JSON as text: the standard library has none.

pub fn text(value: &str) -> String {
    let mut out = String::from("\"");
    for letter in value.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            letter if (letter as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", letter as u32)),
            letter => out.push(letter),
        }
    }
    out + "\""
}

pub fn optional(value: Option<&str>) -> String {
    value.map_or_else(|| "null".to_string(), text)
}

pub fn array<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> String {
    format!("[{}]", joined(values))
}

/// Of names and values that are JSON already.
pub fn object<N: AsRef<str>>(entries: impl IntoIterator<Item = (N, String)>) -> String {
    format!("{{{}}}", joined(entries.into_iter().map(|(name, value)| format!("{}:{value}", text(name.as_ref())))))
}

pub fn texts<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> String {
    array(values.into_iter().map(|value| text(value.as_ref())))
}

fn joined<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.as_ref().to_string()).collect::<Vec<_>>().join(",")
}
