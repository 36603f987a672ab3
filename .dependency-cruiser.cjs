// The arrows between rooms (CONTRIBUTING.md, "The house"). A room imports another only through its door, index.ts.
const room = (name) => `^src/${name}/`
const rooms = [
  'base',
  'model',
  'windows',
  'manifest',
  'planner',
  'cost',
  'service',
  'policy',
  'api',
  'apply',
  'report',
  'workflow',
  'agent',
  'public',
  'cli',
  'action',
  'sandbox',
]
const mayImport = {
  base: [],
  model: [],
  windows: ['model'],
  manifest: ['model'],
  planner: ['model'],
  cost: ['model'],
  service: ['model'],
  policy: ['model'],
  api: ['model'],
  apply: ['model', 'windows', 'api', 'planner'],
  report: ['model', 'windows', 'cost'],
  workflow: ['model', 'windows', 'manifest', 'planner', 'cost', 'service', 'policy', 'api', 'apply', 'sandbox'],
  agent: ['model', 'windows', 'planner'],
  public: ['workflow', 'model', 'api', 'apply', 'report'],
  cli: [
    'workflow',
    'model',
    'windows',
    'manifest',
    'planner',
    'cost',
    'service',
    'policy',
    'api',
    'apply',
    'report',
    'sandbox',
  ],
  action: ['workflow', 'model', 'manifest', 'planner', 'api', 'apply', 'report', 'sandbox'],
  sandbox: ['model'],
}
const npm = (name) => `node_modules/${name}/`

module.exports = {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    ...rooms.map((name) => ({
      name: `${name}-knows-only-its-neighbours`,
      severity: 'error',
      from: { path: room(name) },
      to: { path: '^src/', pathNot: [room(name), room('base'), ...mayImport[name].map(room)].join('|') },
    })),
    // The pages of report have a door of their own, so that nothing but them loads an HTML library.
    ...rooms
      .filter((name) => name !== 'model')
      .map((name) => ({
        name: `${name}-is-entered-by-its-door`,
        severity: 'error',
        from: { path: '^src/', pathNot: `${room(name)}|^src/index\\.ts$` },
        to: {
          path: room(name),
          pathNot: `^src/${name}/index\\.ts$|^src/report/html/index\\.ts$|^src/cli/main\\.ts$|^src/model/version\\.ts$`,
        },
      })),
    {
      name: 'planner-and-model-are-pure',
      severity: 'error',
      from: { path: '^src/(planner|cost|service|policy|model|report)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'only-cli-knows-the-terminal',
      severity: 'error',
      from: { path: '^src/', pathNot: room('cli') },
      to: { path: `${npm('yargs')}|${npm('listr2')}` },
    },
    {
      name: 'only-api-speaks-http-out',
      severity: 'error',
      from: { path: '^src/', pathNot: `${room('api')}|${room('action')}` },
      to: { path: npm('undici') },
    },
    {
      name: 'sandbox-computes-know-no-http',
      severity: 'error',
      from: { path: '^src/sandbox/computes/' },
      to: { path: `^src/sandbox/(?!computes/)|${npm('hono')}|${npm('@hono')}|^node:http` },
    },
  ],
  options: {
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
}
