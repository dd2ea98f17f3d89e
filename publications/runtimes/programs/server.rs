// Answers each request with what `echo hi` prints; prints its port. A thread for each connection, which is kept.
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

fn serve(connection: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(connection.try_clone()?);
    let mut answers = connection;
    let mut line = String::new();
    while lines.read_line(&mut line)? > 0 {
        let is_end_of_request = line == "\r\n";
        line.clear();
        if is_end_of_request {
            let text = Command::new("echo").arg("hi").output()?.stdout;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", text.len());
            answers.write_all(&[head.as_bytes(), &text].concat())?;
        }
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind("localhost:0")?;
    println!("{}", listener.local_addr()?.port());
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    for connection in listener.incoming() {
        let connection = connection?;
        connection.set_nodelay(true)?;
        std::thread::spawn(move || serve(connection));
    }
    Ok(())
}
