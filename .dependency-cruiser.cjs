// Dependencies between modules (CONTRIBUTING.md, "Modules"). A module imports another only through its index.ts.
const inModule = (name) => `^src/${name}/`
const modules = [
  'base',
  'model',
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
  manifest: ['model'],
  planner: ['model'],
  cost: ['model'],
  service: ['model'],
  policy: ['model'],
  api: ['model'],
  apply: ['model', 'api', 'planner'],
  report: ['model', 'cost', 'service'],
  workflow: ['model', 'manifest', 'planner', 'cost', 'service', 'policy', 'api', 'apply', 'sandbox'],
  agent: ['model', 'planner', 'api', 'apply', 'workflow', 'report'],
  public: ['workflow', 'model', 'api', 'apply', 'report'],
  cli: [
    'workflow',
    'model',
    'manifest',
    'planner',
    'cost',
    'service',
    'policy',
    'api',
    'apply',
    'report',
    'agent',
    'sandbox',
  ],
  action: ['workflow', 'model', 'manifest', 'planner', 'api', 'apply', 'report', 'sandbox'],
  sandbox: ['model'],
}
const npm = (name) => `node_modules/${name}/`

module.exports = {
  forbidden: [
    {
      name: 'no-circle',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    ...modules.map((name) => ({
      name: `${name}-knows-only-its-neighbours`,
      severity: 'error',
      from: { path: inModule(name) },
      to: { path: '^src/', pathNot: [inModule(name), inModule('base'), ...mayImport[name].map(inModule)].join('|') },
    })),
    // The HTML pages of report and the YAML reader of base have their own indexes, so that nothing else loads their
    // libraries.
    ...modules
      .filter((name) => name !== 'model')
      .map((name) => ({
        name: `${name}-is-entered-by-its-index`,
        severity: 'error',
        from: { path: '^src/', pathNot: `${inModule(name)}|^src/index\\.ts$` },
        to: {
          path: inModule(name),
          pathNot: `^src/${name}/index\\.ts$|^src/report/html/index\\.ts$|^src/base/yaml/index\\.ts$|^src/base/issue-text\\.ts$|^src/cli/main\\.ts$|^src/base/version\\.ts$`,
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
      from: { path: '^src/', pathNot: inModule('cli') },
      to: { path: `${npm('yargs')}|${npm('listr2')}` },
    },
    {
      name: 'the-table-of-commands-loads-no-work',
      comment: 'scripts/bundle.mjs keeps these files in one chunk, which every command loads.',
      severity: 'error',
      from: {
        path: '^src/cli/(program|command-line|command|commands/index|completion/complete|setup/flags|terminal/(terminal|print-error))\\.ts',
      },
      to: { path: '^src/(?!base/|model/|report/|cli/)', dependencyTypesNot: ['type-only', 'dynamic-import'] },
    },
    {
      name: 'only-api-speaks-http-out',
      severity: 'error',
      from: { path: '^src/', pathNot: `${inModule('api')}|${inModule('action')}` },
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
