# SPDX-License-Identifier: GPL-2.0-or-later
# ruby_waits.rb: threads that wait in many ways, each under another name. It says "ready", and for each line that it reads, the stacks of
# its threads as Thread#backtrace_locations tells them: "THREAD<tab>LABEL<tab>FILE<tab>LINE" a frame, innermost first, then "end".
# In C methods FILE and LINE are those of the caller.
require "monitor"

def wait
  sleep
end

module Mixed
  def mixed
    wait
  end
end

class Base
  def over
    wait
  end
end

class Some < Base
  include Mixed
  attr_accessor :value
  def method_missing(name, *args)
    name == :not_there ? wait : super
  end

  def respond_to_missing?(name, all)
    name == :not_there
  end
  define_method(:defined) { |x| wait }
  def over
    super
  end

  def self.single
    wait
  end

  def rescued
    raise "x"
  rescue RuntimeError
    wait
  end

  def ensured
    1
  ensure
    wait
  end

  def yielding(n)
    yield n
  end

  def optional(a, b = 2, *c, k: wait)
  end

  def matched(s)
    s =~ /b/ && wait
  end

  def ==(other)
    wait
  end

  def to_s
    wait
  end

  def long
    a = 1
    b = 2
    c = [
      a, b,
      [4, 5].map do |x|
        x * a
      end
    ]
    d = { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8 }
    e = d.map { |k, v| [k, v, a, b] }.select { |k, v| v > 2 }.sort_by { |k, v| -v }
    f = "a#{a}b#{b}c#{c}d#{d}e#{e}"
    g = f.gsub("a", "b").gsub("b", "c").gsub("c", "d").upcase.downcase
    h = [a, b, c, d, e, f, g].each_with_index.map { |x, i| [x, i] }
    if h.size == 7
      i = h.map(&:first)
      j = i.each_slice(2).to_a
      wait if j
    end
  end
end

Pair = Struct.new(:a) do
  def pair
    wait
  end
end

module Refine
  refine Integer do
    def refined
      wait
    end
  end
end
using Refine

WAYS = {
  asleep: -> { wait },
  timed: -> { sleep 100_000 },
  stopped: -> { Thread.stop },
  queue: -> { Queue.new.pop },
  sized: -> { q = SizedQueue.new(1); q << 1; q << 2 },
  mutex: -> { m = Mutex.new; Thread.new { m.lock; sleep }; sleep 0.3; m.synchronize { 1 } },
  condition: -> { m = Mutex.new; c = ConditionVariable.new; m.synchronize { c.wait(m) } },
  monitor: -> { m = Monitor.new; m.synchronize { m.new_cond.wait } },
  pipe: -> { r, w = IO.pipe; r.read; w },          # the garbage collector would close an end that nobody has
  select: -> { r, w = IO.pipe; IO.select([r]); w },
  each: -> { [1].each { |x| 1.times { |y| wait } } },
  hash: -> { { a: 1 }.each_pair { |k, v| wait } },
  mapped: -> { (1..3).map { |x| x.then { |y| wait } } },
  sorted: -> { [3, 1].sort { |x, y| wait } },
  inject: -> { [3, 1].inject { |x, y| wait } },
  lazy: -> { (1..3).lazy.map { |x| wait }.first(2) },
  missing: -> { Some.new.not_there(1) },
  defined: -> { Some.new.defined(1) },
  mixed: -> { Some.new.mixed },
  single: -> { Some.single },
  over: -> { Some.new.over },
  rescued: -> { Some.new.rescued },
  ensured: -> { Some.new.ensured },
  yielding: -> { Some.new.yielding(1) { |n| wait } },
  optional: -> { Some.new.optional(1) },
  matched: -> { Some.new.matched("abc") },
  equal: -> { [Some.new] == [Some.new] },
  text: -> { "#{Some.new}" },
  long: -> { Some.new.long },
  sent: -> { Some.new.send(:mixed) },
  public: -> { Some.new.public_send(:mixed) },
  method: -> { Some.new.method(:mixed).call },
  symbol: -> { [Some.new].each(&:mixed) },
  evaled: -> { eval("[1].each { |x|\n wait }", binding, "made.rb", 40) },
  instance: -> { Some.new.instance_eval { mixed } },
  class_eval: -> { Some.class_eval("def evaled; wait; end", "other.rb", 7); Some.new.evaled },
  struct: -> { Pair.new(1).pair },
  refined: -> { 1.refined },
  fiber: -> { Fiber.new { wait }.resume },
  enumerator: -> { Enumerator.new { |y| wait }.next },
  caught: -> { catch(:x) { wait } },
  proc: -> { proc { |x| lambda { |y| wait }.call(x) }.call(1) },
  class_body: -> { Class.new { wait } },
  recursion: -> { f = ->(n) { n > 0 ? f.(n - 1) : wait }; f.(60) },
}.freeze

threads = WAYS.map { |name, way| Thread.new(&way).tap { |t| t.name = name.to_s } }
class Body
  Thread.new { class << self; end; sleep }.name = "body"
end
sleep 0.6
puts "ready"
$stdout.flush
while $stdin.gets
  threads.each do |t|
    t.backtrace_locations.each { |l| puts [t.name, l.label, l.path, l.lineno].join("\t") }
  end
  puts "end"
  $stdout.flush
end
