// Notes which lines of a Node.js program start processes, for `clonometer census`, which has put this file into
// NODE_OPTIONS. Any Node.js may start with it: old syntax only, and whatever goes wrong is left alone.
'use strict';

(function () {
  const path = process.env.CLONOMETER_CALLS;
  const mostFileBytes = 64 * 1024 * 1024;
  const mostBytes = 4000;
  const mostFrames = 16;
  if (!path) return;

  const fs = require('fs');
  const open = fs.openSync, status = fs.fstatSync, write = fs.writeSync, close = fs.closeSync;
  const flags = fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_NOFOLLOW;
  const fileURLToPath = require('url').fileURLToPath;
  let inside = false;
  const promised = require('util').promisify.custom;

  // The calls outside of `wrapper`, as the engine knows them, whatever the program makes of stacks.
  function framesOutside(wrapper) {
    const prepare = Error.prepareStackTrace, limit = Error.stackTraceLimit, holder = {};
    try {
      Error.prepareStackTrace = function (error, sites) { return sites; };
      Error.stackTraceLimit = mostFrames;
      Error.captureStackTrace(holder, wrapper);
      return holder.stack;
    } finally {
      Error.prepareStackTrace = prepare;
      Error.stackTraceLimit = limit;
    }
  }

  function describe(site) {
    let file = site.getFileName() || '';
    const library = file === '' || file.startsWith('node:') || !(file.startsWith('/') || file.startsWith('file:'));
    if (file.startsWith('file:')) file = fileURLToPath(file);
    const name = site.getFunctionName() || site.getMethodName() || '<anonymous>';
    return (library ? 'L' : 'P') + [file.split('/').pop(), name, file, site.getLineNumber() || 0].join('\x1f');
  }

  function note(event, wrapper) {
    const now = process.hrtime();
    // Processes are made by the main thread, whose number is that of the process.
    const words = ['node', now[0] + String(now[1]).padStart(9, '0'), process.pid, 'process', event];
    for (const site of framesOutside(wrapper)) words.push(describe(site));
    const text = words.map(function (word) { return String(word).replace(/[\t\n]/g, ' '); }).join('\t');
    // It is opened each time: nothing of ours stays open in the program.
    const file = open(path, flags);
    try {
      if (status(file).size < mostFileBytes) write(file, text.slice(0, mostBytes) + '\n');
    } finally {
      close(file);
    }
  }

  function wrapped(event, original) {
    function wrapper() {
      // Of functions that call each other the program has called the first.
      if (inside) return Reflect.apply(original, this, arguments);
      try {
        note(event, wrapper);
      } catch (error) {
        // Nothing may become of it: the census has gone, or cannot be seen from here.
      }
      inside = true;
      try {
        return Reflect.apply(original, this, arguments);
      } finally {
        inside = false;
      }
    }
    const properties = Object.getOwnPropertyDescriptors(original);
    if (properties[promised]) properties[promised].value = wrapped(event, properties[promised].value);
    Object.defineProperties(wrapper, properties);
    return wrapper;
  }

  try {
    const calls = require('child_process');
    if (!require('worker_threads').isMainThread) return;
    for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']) {
      calls[name] = wrapped('child_process.' + name, calls[name]);
    }
  } catch (error) {
    // An older Node.js.
  }
})();
