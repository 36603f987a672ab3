/** Answers GraphQL queries from plain values, and checks both against the schema that GitHub publishes. */
import { readFileSync } from 'node:fs'
import { buildASTSchema, type DefinitionNode, type GraphQLSchema, graphql, parse, type TypeNode } from 'graphql'

/** The types that the Action's queries use. The whole schema takes seconds to build. */
const TYPES = [
  ...['Query', 'Node', 'Actor', 'User', 'Bot', 'Repository', 'Ref', 'GitObject', 'PageInfo', 'GitActor'],
  ...['GitActorConnection', 'Commit', 'CommitConnection', 'IssueComment', 'IssueCommentConnection'],
  ...['PullRequest', 'PullRequestConnection', 'PullRequestState', 'IssueOrder', 'IssueOrderField', 'OrderDirection'],
  ...['PullRequestReview', 'PullRequestReviewConnection', 'PullRequestReviewState'],
  ...['PullRequestCommit', 'PullRequestCommitConnection'],
  ...['MergeQueue', 'MergeQueueEntry', 'MergeQueueEntryConnection'],
  ...['DateTime', 'GitObjectID', 'HTML', 'URI'],
]
const BUILT_IN = ['String', 'Int', 'Boolean', 'ID', 'Float']

const nameOf = (type: TypeNode): string => (type.kind === 'NamedType' ? type.name.value : nameOf(type.type))

const isKnown = ({ type }: { readonly type: TypeNode }): boolean => [...TYPES, ...BUILT_IN].includes(nameOf(type))

/** Without the fields and arguments of types that are left out. */
const withKnown = (node: DefinitionNode): DefinitionNode => {
  if (node.kind === 'InputObjectTypeDefinition') return { ...node, fields: (node.fields ?? []).filter(isKnown) }
  if (node.kind !== 'ObjectTypeDefinition' && node.kind !== 'InterfaceTypeDefinition') return node
  return {
    ...node,
    interfaces: (node.interfaces ?? []).filter(({ name }) => TYPES.includes(name.value)),
    fields: (node.fields ?? [])
      .filter(isKnown)
      .map((field) => ({ ...field, arguments: (field.arguments ?? []).filter(isKnown), directives: [] })),
  }
}

let known: GraphQLSchema | undefined

const schema = (): GraphQLSchema => {
  if (known !== undefined) return known
  const text = readFileSync('node_modules/@octokit/graphql-schema/schema.graphql', 'utf8')
  const pattern = new RegExp(
    `^(?:scalar (?:${TYPES.join('|')})$|(?:type|interface|enum|input) (?:${TYPES.join('|')})\\b[^{]*\\{.*?^\\})`,
    'gms',
  )
  const { definitions } = parse([...text.matchAll(pattern)].map(([block]) => block).join('\n\n'), { noLocation: true })
  known = buildASTSchema(
    { kind: 'Document' as never, definitions: definitions.map(withKnown) },
    { assumeValid: true, assumeValidSDL: true },
  )
  return known
}

/** @param root the value of each field of the query. A function gets the arguments. */
export const answerGraphql = (query: string, variables: object, root: object): Promise<unknown> =>
  graphql({ schema: schema(), source: query, rootValue: root, variableValues: { ...variables } })

/** Pages of a connection. Cursors are positions. */
export const pages =
  (nodes: readonly object[]) =>
  ({ first = nodes.length, after }: { readonly first?: number; readonly after?: string | null }) => {
    const start = after == null ? 0 : Number(after)
    const end = Math.min(start + first, nodes.length)
    const endCursor = end > start ? String(end) : null
    return {
      nodes: nodes.slice(start, end),
      totalCount: nodes.length,
      pageInfo: { hasNextPage: end < nodes.length, endCursor },
    }
  }
