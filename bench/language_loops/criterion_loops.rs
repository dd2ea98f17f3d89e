//! The same launches timed by criterion: its options, and a filter.

use criterion::{criterion_group, criterion_main, Criterion, SamplingMode};
use std::time::Duration;

mod launches;

fn loops(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("loops");
    group.sampling_mode(SamplingMode::Flat).sample_size(30).nresamples(1000).warm_up_time(Duration::from_millis(100));
    for what in ["os_thread", "command"] {
        group.bench_function(what, |bencher| bencher.iter(launches::named(what)));
    }
    group.finish();
}

criterion_group!(benches, loops);
criterion_main!(benches);
