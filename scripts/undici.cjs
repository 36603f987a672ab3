// What src/ uses of undici, for the bundle: its index also loads fetch, caches, cookies, mocks and web sockets, which
// takes longer than all else that a command needs to start.
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js')
Object.assign(Dispatcher.prototype, require('undici/lib/api/index.js'))
exports.Agent = require('undici/lib/dispatcher/agent.js')
exports.EnvHttpProxyAgent = require('undici/lib/dispatcher/env-http-proxy-agent.js')
exports.errors = require('undici/lib/core/errors.js')
