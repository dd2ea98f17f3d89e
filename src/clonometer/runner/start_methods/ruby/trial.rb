# frozen_string_literal: true

# A program of the user's that starts workers by METHOD: what that costs, and what breaks; in any Ruby from 2.7 on.
#
# It is run as `ruby trial.rb METHOD times|cases DESCRIPTOR`. What it sees goes to the descriptor as lines of JSON, at once:
# where it hangs, the last line says in what. `ruby trial.rb worker READING WRITING` is a worker in a new process.
#
# The interval of a start ends when the program has the worker's first result, and contains handing over the data:
# inherited by a fork, shared by a Thread, copied to a Ractor, marshalled to a new ruby. All times are of one clock in one
# process.

$stdout.sync = true
BEGAN_NS = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
# The file's name is that of the user's command, so that names are resolved as there.
eval(ENV.fetch("CLONOMETER_START_CODE", ""), TOPLEVEL_BINDING, "-e", 1)
IMPORT_NS = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) - BEGAN_NS

$clonometer_state = "of the start"

# A worker gave no result; the message says why.
class FailedError < StandardError; end

def now
  Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end

def described(error)
  cause = error.cause
  # A Ractor's error only says that there was another.
  return described(cause) if cause && error.class.name == "Ractor::RemoteError"

  (error.is_a?(FailedError) ? error.message : "#{error.class}: #{error.message}")[0, 300]
end

# What workers can be asked to do. Ractors can call these, and see constants that are frozen all through.
module Work
  WORDS = %w[a list]
  LOCK = Mutex.new
  HELD_S = 0.5

  module_function

  def look(data)
    data.sum(&:bytesize)
  end

  # What a fork has had from its start on.
  def look_at_inherited
    look($clonometer_data)
  end

  def keep_inherited
    keep($clonometer_data)
  end

  def keep(data)
    Thread.current.thread_variable_set(:clonometer, data)
    data.size
  end

  def look_at_kept(seconds)
    total = look(Thread.current.thread_variable_get(:clonometer))
    sleep seconds
    total
  end

  def nothing(number)
    number
  end

  def compute(loops)
    sum = number = 0
    while number < loops
      sum = (sum * 31 + number) % 1_000_003
      number += 1
    end
    sum
  end

  def call_block(block)
    block.call
  end

  def call_inherited_block
    $clonometer_block.call
  end

  def read_state
    $clonometer_state
  end

  def read_words
    WORDS.size
  end

  def take_lock
    ends = now + HELD_S * 3e9
    sleep 0.01 until (taken = LOCK.try_lock) || now > ends
    taken
  end

  def write_byte(descriptor)
    IO.for_fd(descriptor, "w", autoclose: false).syswrite("!")
  end

  def change_folder(folder)
    Dir.chdir(folder)
  end
end

def answer_to(name, given)
  [true, Work.public_send(name, *given)]
rescue Exception => error # what a worker dies of is its answer
  [false, described(error)]
end

# Answers calls that come marshalled through a pipe, until nobody can call any more.
def serve(reading, writing)
  loop { writing.write(Marshal.dump(answer_to(*Marshal.load(reading)))) }
rescue EOFError
  nil
end

if ARGV.first == "worker"
  serve(*[[1, "rb"], [2, "wb"]].map { |at, mode| IO.for_fd(Integer(ARGV.fetch(at), 10), mode).tap { |io| io.sync = true } })
  exit
end

DATA_MB = Integer(ENV.fetch("CLONOMETER_START_DATA_MB", "0"), 10)
WORKERS = Integer(ENV.fetch("CLONOMETER_START_WORKERS", "2"), 10)
LATER = 5
TASKS = 200
RECORD_BYTES = 1024
LIMIT_S = 60.0
# A worker imports before it answers.
CASE_LIMIT_S = 3.0 + 3 * IMPORT_NS / 1e9
COMPUTED_NS = 20_000_000
HIGH_DESCRIPTOR = 200
# linux/fcntl.h; Ruby does not name it.
F_DUPFD_CLOEXEC = 1030

# Values from one thread to another; with a limit of time, which Queue#pop has from Ruby 3.2 on alone.
class Mailbox
  def initialize
    @lock = Mutex.new
    @filled = ConditionVariable.new
    @values = []
  end

  def push(value)
    @lock.synchronize do
      @values << value
      @filled.signal
    end
  end

  def pop(limit_s)
    ends = now + limit_s * 1e9
    @lock.synchronize do
      @filled.wait(@lock, (ends - now) / 1e9) while @values.empty? && now < ends
      raise FailedError, "no result within #{limit_s.round(1)} s" if @values.empty?

      @values.shift
    end
  end
end

# A worker in the same process: `post` hands it a call, `take` gives its answer.
class ThreadWorker
  def initialize
    @calls = Queue.new
    @answers = Mailbox.new
    @thread = Thread.new { loop { @answers.push(answer_to(*@calls.pop)) } }
  end

  def post(name, given)
    @calls << [name, given]
  end

  def take(limit_s)
    @answers.pop(limit_s)
  end

  def close
    @thread.kill
    @thread.join
  end
end

# A worker that shares only what is frozen; data is copied.
class RactorWorker
  def initialize
    @ractor = Ractor.new(Ractor.current) do |caller|
      loop do
        name, given = Ractor.receive
        break if name.nil?

        answer = answer_to(name, given)
        caller.send([Ractor.current, answer])
      end
    end
  end

  # Answers of other workers may come first: they are kept until they are asked for.
  ANSWERS = Hash.new { |answers, ractor| answers[ractor] = [] } # rubocop:disable Style/MutableConstant

  def post(name, given)
    @ractor.send([name, given])
  end

  def take(limit_s)
    require "timeout"
    Timeout.timeout(limit_s, FailedError, "no result within #{limit_s.round(1)} s") do
      while ANSWERS[@ractor].empty?
        from, answer = Ractor.receive
        ANSWERS[from] << answer
      end
    end
    ANSWERS[@ractor].shift
  end

  def close
    @ractor.send(nil)
    @ractor.respond_to?(:value) ? @ractor.value : @ractor.take
  end
end

# A worker in a process, with a pipe each way.
class ProcessWorker
  def post(name, given)
    Marshal.dump([name, given], @writing)
  rescue Errno::EPIPE
    raise FailedError, "the worker has ended"
  end

  def take(limit_s)
    raise FailedError, "no result within #{limit_s.round(1)} s" unless @reading.wait_readable(limit_s)

    Marshal.load(@reading)
  rescue EOFError
    _, status = Process.wait2(@pid)
    @pid = nil
    raise FailedError, "the worker ended: #{status.to_s.sub(/\Apid \d+ /, '')}"
  end

  # It ends by itself, as workers do, and runs what is to be run at the end.
  def close
    @writing.close
    @reading.wait_readable(0.5)
    if @pid && Process.wait(@pid, Process::WNOHANG).nil? && !@reading.wait_readable(0)
      Process.kill(:KILL, @pid)
    end
    Process.wait(@pid) if @pid
  rescue Errno::ECHILD
    nil
  ensure
    @reading.close
  end

  private

  def with_pipes
    call_reading, @writing = IO.pipe(binmode: true)
    @reading, answer_writing = IO.pipe(binmode: true)
    [@writing, answer_writing].each { |io| io.sync = true }
    @pid = yield call_reading, answer_writing
    [call_reading, answer_writing].each(&:close)
  end
end

# It has all that the program has.
class ForkedWorker < ProcessWorker
  def initialize
    with_pipes do |reading, writing|
      Process.fork do
        [@writing, @reading].each(&:close)
        serve(reading, writing)
      end
    end
  end
end

# It has nothing but what it imports again.
class SpawnedWorker < ProcessWorker
  def initialize
    require "json"
    options = JSON.parse(ENV.fetch("CLONOMETER_START_PROGRAM"))
    with_pipes do |reading, writing|
      Process.spawn(*options, __FILE__, "worker", "3", "4", 3 => reading, 4 => writing)
    end
  end
end

WORKER_CLASSES = { "thread" => ThreadWorker, "ractor" => RactorWorker, "fork" => ForkedWorker,
                   "spawn" => SpawnedWorker }.freeze

# Why this Ruby has no such method; nil where it has.
def unavailable(method)
  return "needs Ruby 3.0 or later" if method == "ractor" && !defined?(Ractor)

  "#{RUBY_ENGINE} has no fork" if method == "fork" && !Process.respond_to?(:fork)
end

# Starts workers by a method, and calls them.
class Starter
  def initialize(method)
    @class = WORKER_CLASSES.fetch(method)
    @inherits = method == "fork"
  end

  def start
    @class.new
  end

  # Calls a new worker, and gives its answer and the time in ns until that was here.
  def result(name, given, limit_s)
    before = now
    worker = start
    begin
      worker.post(name, given)
      good, value = worker.take(limit_s)
      spent = now - before
    ensure
      worker.close
    end
    raise FailedError, value unless good

    [value, spent]
  end

  # The same call to each of some workers, all at once; gives their values.
  def call_all(workers, name, given)
    workers.each { |each| each.post(name, given) }
    workers.map do |each|
      good, value = each.take(LIMIT_S)
      raise FailedError, value unless good

      value
    end
  end

  # A call that hands over what is given, if a worker does not have it from its start on.
  def handing_over(name, given)
    @inherits ? ["#{name}_inherited", []] : [name, given]
  end

  def looking(data)
    @inherits ? ["look_at_inherited", []] : ["look", [data]]
  end
end

# PSS and private memory in bytes of all processes of this session, of which this one is the leader; none: unreadable.
def memory
  totals = Hash.new(0)
  Dir.children("/proc").grep(/\A\d+\z/).each do |pid|
    fields = File.read("/proc/#{pid}/stat").rpartition(")").last.split
    next if fields[3].to_i != Process.pid || fields[0] == "Z"

    File.read("/proc/#{pid}/smaps_rollup").scan(/^(Pss|Private_\w+):\s+(\d+)/) do |name, kilobytes|
      totals[name[/Pss|Private/]] += kilobytes.to_i * 1024
    end
  rescue Errno::ENOENT, Errno::ESRCH
    # It has ended, unless this kernel has no such file.
    return {} if pid.to_i == Process.pid
  rescue SystemCallError
    return {}
  end
  { memory_bytes: totals["Pss"], private_bytes: totals["Private"] }
end

# What so many turns of the loop take here, in ns; the best of three.
def spent_ns(loops)
  Array.new(3) do
    before = now
    Work.compute(loops)
    now - before
  end.min
end

# How many turns of the loop take 20 ms here.
def loops_of_task
  loops = 10_000
  loops *= 2 while (spent = spent_ns(loops)) < COMPUTED_NS
  loops * COMPUTED_NS / spent
end

def measure_pool(starter, data, say)
  before = now
  workers = Array.new(WORKERS) { starter.start }
  # Each has its data before the first is asked.
  starter.call_all(workers, *starter.handing_over("keep", [data]))
  starter.call_all(workers.first(1), "look_at_kept", [0])
  say.call(pool_ns: now - before, step: "all workers of the pool")
  starter.call_all(workers, "look_at_kept", [0.1])
  say.call(**memory, step: "the tasks of the pool")
  rounds = TASKS / WORKERS
  before = now
  rounds.times { |number| starter.call_all(workers, "nothing", [number]) }
  say.call(task_ns: (now - before).fdiv(rounds * WORKERS)) if rounds.positive?
  loops = loops_of_task
  before = now
  starter.call_all(workers, "compute", [loops])
  say.call(compute_ns: now - before, step: "the end of the pool")
ensure
  workers&.each(&:close)
end

def measure_times(method, say)
  say.call(step: "making the data")
  starter = Starter.new(method)
  data = $clonometer_data = Array.new(DATA_MB * 1024) { |number| number.to_s.ljust(RECORD_BYTES, ".") }
  wanted = Work.look(data)
  say.call(imports_ns: IMPORT_NS, threads: Dir.children("/proc/self/task").size, step: "the first worker")
  times = Array.new(1 + LATER) do |turn|
    value, spent = starter.result(*starter.looking(data), LIMIT_S)
    raise FailedError, "the worker saw other data" if value != wanted

    say.call(step: "worker #{turn + 2}")
    spent
  end
  say.call(first_ns: times.first, later_ns: times.drop(1).sort[LATER / 2], step: "the pool")
  measure_pool(starter, data, say)
end

# What is tried of each method; each raises where it breaks.
class Cases
  NAMES = %w[lock block state constant descriptor at_exit chdir].freeze

  def initialize(method)
    @method = method
    @starter = Starter.new(method)
  end

  # A thread holds the program's lock for half a second, which the worker takes too.
  def lock
    held = Queue.new
    thread = Thread.new do
      Work::LOCK.synchronize do
        held << true
        sleep Work::HELD_S
      end
    end
    held.pop
    taken = call("take_lock")
    raise FailedError, "the lock stayed locked in the worker, whose parent had freed it" unless taken
  ensure
    thread.join
  end

  def block
    number = 21
    given = $clonometer_block = -> { 2 * number }
    return call("call_inherited_block") if @method == "fork"
    return Ractor.new(&given) if @method == "ractor"

    call("call_block", [given])
  end

  def state
    $clonometer_state = "changed"
    raise FailedError, "without an error, the worker saw the value of the start" if call("read_state") != "changed"
  end

  def constant
    call("read_words")
  end

  def descriptor
    source, sink = IO.pipe
    # So high that the worker has no other file there; closed by exec, as all that Ruby opens.
    high = sink.fcntl(F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR)
    call("write_byte", [high])
    raise FailedError, "nothing arrived" unless source.wait_readable(0)
  ensure
    IO.for_fd(high).close if high
    [source, sink].compact.each(&:close)
  end

  def at_exit
    source, sink = IO.pipe
    Kernel.at_exit { sink.syswrite("!") }
    call("nothing", [1])
    raise FailedError, "it ran in the worker too, at its end" if source.wait_readable(0)
  end

  def chdir
    folder = Dir.pwd
    call("change_folder", ["/"])
    raise FailedError, "the folder of the whole program has changed" if Dir.pwd != folder
  ensure
    Dir.chdir(folder)
  end

  private

  def call(name, given = [])
    @starter.result(name, given, CASE_LIMIT_S).first
  end
end

def try_cases(method, say)
  cases = Cases.new(method)
  Cases::NAMES.each do |name|
    say.call(step: name)
    begin
      cases.public_send(name)
      say.call(case: name, outcome: "works", words: nil)
    rescue StandardError => error
      say.call(case: name, outcome: "breaks", words: described(error))
    end
  end
end

def main(method, what, descriptor)
  require "json"
  require "io/wait"
  # What the user's module prints is no answer.
  sink = IO.for_fd(Integer(descriptor, 10), "w")
  sink.close_on_exec = true
  say = ->(**values) { sink.syswrite("#{JSON.generate(values)}\n") }
  say.call(step: "the start")
  if (reason = unavailable(method))
    say.call(unavailable: reason)
  else
    Warning[:experimental] = false
    what == "times" ? measure_times(method, say) : try_cases(method, say)
    say.call(done: true)
  end
rescue StandardError, ScriptError, NoMemoryError => error
  say.call(failed: described(error))
end

main(*ARGV)
$stdout.flush
# What was to run at the end has been tried.
exit!(0)
