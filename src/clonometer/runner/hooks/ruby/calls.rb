# frozen_string_literal: true

# Notes which lines of a Ruby program make tasks, for `clonometer census`, which has put this file into RUBYOPT.
# Any Ruby may start with it: whatever goes wrong is left alone, and no constant or global variable is added.

lambda do
  path = ENV['CLONOMETER_CALLS']
  most_file_bytes = 64 * 1024 * 1024
  most_bytes = 4000
  most_frames = 16
  ours = __FILE__
  next if path.nil? || path.empty?

  begin
    library = [RbConfig::CONFIG['rubylibdir'], RbConfig::CONFIG['rubyarchdir']].map { |folder| "#{folder}/" }
    flags = File::WRONLY | File::APPEND | File::NOFOLLOW
    flags |= File::CLOEXEC if defined?(File::CLOEXEC)

    describe = lambda do |location|
      file = location.absolute_path || location.path
      of_library = file.start_with?('<internal:', *library)
      name = location.label.sub(/\A(?:block|rescue|ensure)(?: \(\d+ levels\))? in /, '')
      (of_library ? 'L' : 'P') + [File.basename(file, '.rb'), name, file, location.lineno].join("\x1f").b
    end

    # Just before a task is made. `locations` are the calls that led to it, innermost first.
    note = lambda do |event, makes, locations|
      begin
        now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
        thread = File.readlink('/proc/thread-self').split('/').last
        words = ['ruby', now_ns.to_s, thread, makes, event]
        words += locations.reject { |each| each.path == ours }.first(most_frames).map(&describe)
        text = words.map { |word| word.b.tr("\t\n", ' ') }.join("\t")
        # It is opened each time: nothing of ours stays open in the program.
        File.open(path, flags) do |file|
          file.syswrite(text[0, most_bytes] + "\n") if file.stat.size < most_file_bytes
        end
      rescue StandardError
        nil # Nothing may become of it: the census has gone, or cannot be seen from here.
      end
    end

    # An error of the call names the program's line, as it would without this file.
    mend = lambda do |error|
      begin
        calls = error.backtrace
        outside = calls.reject { |call| call.start_with?("#{ours}:") }
        if calls.first.start_with?("#{ours}:") && !outside.empty?
          outside.unshift(outside.first[/\A.*?:\d+/] + calls.first[/:in .*\z/m])
        end
        error.set_backtrace(outside) if outside.length < calls.length
      rescue StandardError
        nil
      end
    end

    wrap = lambda do |owner, name, event, makes|
      next unless owner.method_defined?(name) || owner.private_method_defined?(name)

      original = owner.instance_method(name)
      visibility = owner.private_method_defined?(name) ? :private : :public
      owner.send(:define_method, name) do |*arguments, &block|
        note.call(event, makes, caller_locations(1, most_frames + 8))
        begin
          original.bind(self).call(*arguments, &block)
        rescue Exception => error # rubocop:disable Lint/RescueException
          mend.call(error)
          raise
        end
      end
      owner.send(:ruby2_keywords, name) if owner.respond_to?(:ruby2_keywords, true)
      owner.send(visibility, name)
    end

    warnings = $VERBOSE
    $VERBOSE = nil
    begin
      [Kernel, Kernel.singleton_class].each do |owner|
        %i[system spawn `].each { |name| wrap.call(owner, name, "Kernel.#{name}", 'process') }
      end
      wrap.call(Process.singleton_class, :spawn, 'Process.spawn', 'process')
      wrap.call(Process.singleton_class, :daemon, 'Process.daemon', 'process')
      wrap.call(IO.singleton_class, :popen, 'IO.popen', 'process')
      %i[new start fork].each { |name| wrap.call(Thread.singleton_class, name, "Thread.#{name}", 'thread') }
      if Process.respond_to?(:_fork)
        # Since Ruby 3.1 what forks calls this: the block that runs in the child then has no call of ours around it.
        forks = Process.method(:_fork)
        Process.define_singleton_method(:_fork) do
          calls = caller_locations(1, most_frames + 8)
          name = calls.empty? ? 'fork' : calls.first.base_label
          note.call(name == 'popen' ? 'IO.popen' : "Process.#{name}", 'process', calls.drop(1))
          forks.call
        end
      else
        [Kernel, Kernel.singleton_class, Process.singleton_class].each do |owner|
          wrap.call(owner, :fork, 'Process.fork', 'process')
        end
      end
    ensure
      $VERBOSE = warnings
    end
  rescue StandardError
    nil # A Ruby that is too old.
  end
end.call
