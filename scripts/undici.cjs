// The classes of undici that src/ uses. Its index also loads fetch, caches, cookies, mocks and web sockets, which takes
// longer than everything else that a command loads at start-up.
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js')
Object.assign(Dispatcher.prototype, require('undici/lib/api/index.js'))
exports.Agent = require('undici/lib/dispatcher/agent.js')
exports.EnvHttpProxyAgent = require('undici/lib/dispatcher/env-http-proxy-agent.js')
exports.errors = require('undici/lib/core/errors.js')
