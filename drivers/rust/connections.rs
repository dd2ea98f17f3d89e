//! A server's part of a connection over loopback: it is accepted, its request read, answered, and it is closed.
//!
//! Timed: from before accept until it has returned, and until the connection is closed. Outside: the client's part, in the
//! same thread: it has connected and sent its request before, and reads the answer to its end afterwards. Nobody waits.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::request::Request;
use crate::sys::now;
use crate::workload::{Launcher, Workload};

/// As serve.* has them by default.
const REQUEST_BYTES: usize = 128;
const ANSWER_BYTES: usize = 1024;

pub fn workloads() -> Vec<Workload> {
    vec![Workload {
        id: "connection".to_string(),
        family: "runtime_data",
        summary: "TcpListener::accept, read of 128 bytes, write_all of 1 KiB, drop; the client's part is outside",
        stages: &["call_returns_ns", "result_ns"],
        axes: vec![],
        nulls: &[],
        contains: None,
        api: "TcpListener::accept",
        path: None,
        prepare: with_server,
    }]
}

fn with_server<'a>(_: &'a Request<'a>) -> io::Result<Launcher<'a>> {
    let listening = TcpListener::bind("127.0.0.1:0")?;
    let address = listening.local_addr()?;
    let mut content = [0; ANSWER_BYTES];
    Ok(Box::new(move |stamps| {
        let mut client = TcpStream::connect(address)?;
        client.write_all(&content[..REQUEST_BYTES])?;
        stamps[0] = now();
        let (mut connection, _) = listening.accept()?;
        stamps[1] = now();
        connection.read_exact(&mut content[..REQUEST_BYTES])?;
        connection.write_all(&content)?;
        drop(connection);
        stamps[2] = now();
        io::copy(&mut client, &mut io::sink()).map(|_| ())
    }))
}
