/** Makes git start no maintenance after a commit, and copy no sample hooks into new repositories: tests make hundreds. */
export default function plainGit(): void {
  Object.assign(process.env, {
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'maintenance.auto',
    GIT_CONFIG_VALUE_0: 'false',
    GIT_CONFIG_KEY_1: 'init.templateDir',
    GIT_CONFIG_VALUE_1: '',
  })
}
