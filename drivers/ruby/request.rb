# frozen_string_literal: true

# What the runner asks for: the measuring keys and the axes, each checked.

# A key or a value that cannot be meant: the answer is `failed`.
class Refusal < StandardError; end

# What this machine cannot do: the answer is `skipped`.
class Skip < StandardError; end

# Axis -> its type, its default, and what it is; a choice has its values. As the probe has them (docs/protocol.md).
AXES = {
  "placement" => [:choice, %w[pinned free], "parent and child on one CPU, or where the scheduler puts them"],
  "stages" => [:choice, %w[all parent], "all stages, or the parent's timestamps only (the new task takes none)"],
  "parent_bytes" => [:bytes, 0, "objects of the runtime that the parent holds before it launches, in bytes"],
  "busy_threads" => [:count, 0, "threads of the runtime that compute while launches are made"],
  "env_bytes" => [:bytes, 0,
                  "size of the new program's environment, filled with variables of 150 bytes; 0: unchanged"],
  "message_bytes" => [:bytes, 1, "size of a message"],
  "program" => [:text, "target_static",
                "what is started: one of our targets, or any path; arguments follow after colons"],
  "call_spin_ns" => [:count, 0, "known answer: the parent spins this long after its call, before its timestamp"],
  "stamp_spin_ns" => [:count, 0, "known answer: the new task spins this long before its timestamp"],
  "child_spin_ns" => [:count, 0, "known answer: the new task spins this long before it exits"]
}.freeze

# The keys of one cell. `workload` is the workload itself once they have been read.
class Request
  COUNTS = { "samples" => 200, "blocks" => 3, "warmup" => 20, "block_limit_ns" => 0, "cpu" => -1 }.freeze
  TEXTS = { "temperatures" => "warm", "clock" => "monotonic", "targets" => ".", "workload" => "" }.freeze
  MOST_BUSY_THREADS = 64
  LIMITS = { "samples" => 10_000_000, "blocks" => 10_000, "message_bytes" => 1 << 30 }.freeze
  # A variable of a filled environment, with its equals sign and the zero at its end.
  VARIABLE_BYTES = 150

  attr_reader :workload

  def initialize(workloads)
    @workloads = workloads
    @values = COUNTS.merge(TEXTS)
    AXES.each { |axis, (kind, default, _)| @values[axis] = kind == :choice ? default.first : default }
  end

  def [](key)
    @values.fetch(key)
  end

  def read(words)
    given = words.map do |word|
      key, equals, text = word.partition("=")
      raise Refusal, "'#{word}' is not key=value" if equals.empty?
      raise Refusal, "unknown key '#{key}'" unless @values.key?(key)

      @values[key] = value_of(key, text)
      key
    end
    check_workload(given)
    check_values
    check_busy_threads
    check_cpu if pinned?
  end

  def pinned?
    self["placement"] == "pinned"
  end

  # The words of the program that is started. Ours are passed where to leave their timestamps.
  def command
    words = self["program"].split(/(?<!\\):/, -1).map { |word| word.gsub(/\\(.)/, '\1') }
    return words unless target?

    [File.join(self["targets"], words[0]), "m0:0", *words.drop(1)]
  end

  def target?
    !self["program"].split(":", 2).first.to_s.include?("/")
  end

  # The environment of the program and the option that goes with it; neither if it is ours.
  def environment
    return [{}, {}] if self["env_bytes"].zero?

    count = (self["env_bytes"] + VARIABLE_BYTES - 1) / VARIABLE_BYTES
    names = Array.new(count) { |number| format("CLONOMETER_FILL%06d", number) }
    [names.to_h { |name| [name, "x" * (VARIABLE_BYTES - name.size - 2)] }, { unsetenv_others: true }]
  end

  private

  def value_of(key, text)
    kind, default, = AXES.fetch(key) { [COUNTS.key?(key) ? :count : :text, nil] }
    raise Refusal, "#{key} has no value '#{text}'" if kind == :choice && !default.include?(text)
    return text unless %i[bytes count].include?(kind)
    raise Refusal, "#{key}=#{text}: not a whole number from 0" unless text.match?(/\A[0-9]+\z/) && text.to_i < 1 << 63

    text.to_i
  end

  def check_workload(given)
    id = self["workload"]
    raise Refusal, "workload is missing" if id.empty?

    @workload = @workloads.fetch(id) { raise Refusal, "there is no workload '#{id}'" }
    raise Skip, @workload.reason if @workload.reason

    lacking = given.find { |key| AXES.key?(key) && !@workload.axes.include?(key) }
    raise Refusal, "#{id} has no axis '#{lacking}'" if lacking
  end

  def check_values
    unless ["cold", "warm", "cold,warm"].include?(self["temperatures"])
      raise Refusal, "temperatures=#{self['temperatures']}: must be cold, warm or cold,warm"
    end
    raise Refusal, "clock=#{self['clock']}: Ruby reads the monotonic clock only" if self["clock"] != "monotonic"

    LIMITS.each do |key, most|
      raise Refusal, "#{key}=#{self[key]}: from 1 to #{most}" unless self[key].between?(1, most)
    end
  end

  def check_busy_threads
    count = self["busy_threads"]
    raise Skip, "busy_threads=#{count}: at most #{MOST_BUSY_THREADS}" if count > MOST_BUSY_THREADS
  end

  def check_cpu
    cpu = self["cpu"]
    allowed = allowed_cpu
    return if allowed && [-1, allowed].include?(cpu)

    raise Skip, cpu >= 0 ? "CPU #{cpu} cannot be used" : "no CPU was chosen to pin it to"
  end
end

# The only CPU that this process may use, nil if there are several.
def allowed_cpu
  list = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1]
  Integer(list, 10) if list&.match?(/\A\d+\z/)
end
