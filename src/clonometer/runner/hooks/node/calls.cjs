// Notes which lines of a Node.js program start processes, for `clonometer census`, which has put this file into
// NODE_OPTIONS. Any Node.js may start with it: old syntax only, and whatever goes wrong is left alone.
//
// All that starts a process comes to one of two functions of Node's own, which throw no errors: a call of ours is in
// no stack that a program sees, and its functions are as they were.
'use strict';

(function () {
  const mostFrames = 20;
  const library = process.env.CLONOMETER_LIBRARY;
  if (!process.env.CLONOMETER_CALLS || !library) return;

  // What may be deprecated says so only once it is used.
  function binding(name) {
    const had = Object.getOwnPropertyDescriptor(process, 'noDeprecation');
    process.noDeprecation = true;
    try {
      return process.binding(name);
    } finally {
      if (had) Object.defineProperty(process, 'noDeprecation', had);
      else delete process.noDeprecation;
    }
  }

  // The calls outside of `wrapper`, as the engine knows them, whatever the program makes of stacks.
  function framesOutside(wrapper) {
    const names = ['prepareStackTrace', 'stackTraceLimit'], holder = {};
    const had = names.map(function (name) { return Object.getOwnPropertyDescriptor(Error, name); });
    try {
      Error.prepareStackTrace = function (error, sites) { return sites; };
      Error.stackTraceLimit = mostFrames;
      Error.captureStackTrace(holder, wrapper);
      return holder.stack;
    } finally {
      names.forEach(function (name, at) {
        if (had[at]) Object.defineProperty(Error, name, had[at]);
        else delete Error[name];
      });
    }
  }

  const fileURLToPath = require('url').fileURLToPath;
  const separators = /[\t\n\x1f]/g;

  function describe(site) {
    let file = site.getFileName() || '';
    const ofLibrary = file === '' || !(file.startsWith('/') || file.startsWith('file:'));
    if (file.startsWith('file:')) file = fileURLToPath(file);
    const name = site.getFunctionName() || site.getMethodName();
    // Of Node's own functions those without a name are none that a program has called.
    if (ofLibrary && !name) return '';
    const words = [file.split('/').pop().replace(/^node:/, ''), name || '<anonymous>', file, site.getLineNumber() || 0];
    return (ofLibrary ? 'L' : 'P') + words.map(function (word) { return String(word).replace(separators, ' '); }).join('\x1f');
  }

  function wrap(owner, name, event, tell) {
    const original = owner[name];
    owner[name] = function wrapper() {
      try {
        tell(event, framesOutside(wrapper).map(describe).filter(Boolean).join('\t'));
      } catch (error) {
        // What the program has made of stacks.
      }
      return Reflect.apply(original, this, arguments);
    };
  }

  try {
    const addon = { exports: {} };
    process.dlopen(addon, library);
    const tell = addon.exports.tell;
    if (!tell) return;
    wrap(binding('process_wrap').Process.prototype, 'spawn', 'spawn', tell);
    wrap(binding('spawn_sync'), 'spawn', 'spawnSync', tell);
  } catch (error) {
    // An older Node.js.
  }
})();
