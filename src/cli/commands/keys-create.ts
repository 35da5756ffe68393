import { Argument, type Command } from 'commander'
import { addWait } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { CommandError, UsageError } from '../failure.ts'
import type { Installation } from '../installation.ts'

interface Options {
  readonly name?: string
  readonly scopes?: string
  readonly organisation?: string
  readonly workspace?: string
  readonly user?: string
  readonly description?: string
  readonly expires?: string
  readonly first?: true
  readonly json?: true
}

const forInstance = 'For example: gatehouse keys create workspace service --name "Another key" --scopes all'

/** `gatehouse keys create <type> <sub-type>`. */
export const addKeysCreate = (keys: Command): Command =>
  explain(addWait(keys.command('create')), {
    example: 'gatehouse keys create organisation service --name "Recovery" --scopes all',
    exits: { 1: 'there is no such organisation, workspace or user', ...databaseExits },
  })
    .description('Makes an API key and shows it this once, on standard output; the audit trail names who did it.')
    .addArgument(new Argument('[type]', 'what the key acts on').choices(['organisation', 'workspace']))
    .addArgument(new Argument('[subType]', 'who it belongs to; only a workspace has user keys').choices(['service', 'user']))
    .option('--name <name>', 'what to call it')
    .option('--scopes <scopes>', 'its scopes, by commas; "all" is every scope that a key of its type can have')
    .option('--organisation <slug>', 'the organisation, by slug or id; by default the only one')
    .option('--workspace <slug>', 'the workspace of a workspace key, by slug or id; by default the default one')
    .option('--user <id>', 'whom a user key belongs to')
    .option('--description <text>', 'what it is for')
    .option('--expires <time>', 'until when it works, such as 2026-12-31T00:00:00Z')
    .option('--first', 'instead: makes the first organisation, its workspace and both first keys, as the first start would')
    .option('--json', '{ id, key, type, organisation }, and with --first { organisation_id, workspace_id, admin_key, workspace_key }')
    .action(async function make(this: Command) {
      const [type, subType] = this.args
      const options = this.opts<Options>()
      // The code of the whole product is loaded for this command alone.
      const { withInstallation } = await import('../installation.ts')
      if (options.first) return withInstallation(this, (opened) => createFirst(opened, options), { makes: true })
      if (type === undefined || subType === undefined)
        throw new UsageError(`name the kind of key: organisation service, workspace service or workspace user. ${forInstance}`)
      if (options.name === undefined || options.scopes === undefined)
        throw new UsageError(`a key needs --name and --scopes. ${forInstance}`)
      if (subType === 'user' && type === 'workspace' && options.user === undefined)
        throw new UsageError('a user key needs --user: the id of the user whom it belongs to')
      return withInstallation(this, (opened) => create(opened, { type, subType }, options))
    })

async function create(opened: Installation, { type, subType }: { type: string; subType: string }, options: Options): Promise<void> {
  const { createApiKey } = await import('../../features/api-keys/api-keys.routes.ts')
  const { createdApiKey } = await import('../../features/api-keys/api-key.schema.ts')
  const { findOrganisation } = await import('../keys/find.ts')
  const { performAsOperator } = await import('../keys/operator.ts')
  const { scopesFor } = await import('../keys/scopes.ts')
  const organisation = await findOrganisation(opened, options.organisation)
  const body = {
    name: options.name,
    scopes: scopesFor(`${type}-${subType}`, options.scopes ?? '', opened.level),
    workspace_id: options.workspace,
    user_id: options.user,
    description: options.description,
    expires_at: options.expires,
  }
  const path = `/v1/api-keys/${type}/${subType}`
  const answer = await performAsOperator(opened, createApiKey, { organisationId: organisation.id, params: { type, subType }, body, path })
  const { id, key } = createdApiKey.parse(answer)
  const made = { id, key, type: `${type}-${subType}`, organisation: organisation.slug }
  console.log(options.json ? JSON.stringify(made, null, 2) : key)
  console.error(`The ${made.type} key "${options.name}" (${id}) of ${made.organisation}. It is shown this once, and stored nowhere.`)
}

async function createFirst(opened: Installation, { json }: Options): Promise<void> {
  const { provision } = await import('../../app/start/provision.ts')
  const made = await provision(opened)
  if (made === null) throw new CommandError('there is an organisation already: make a key of it, without --first')
  const { organisationId, workspaceId, adminApiKey, workspaceApiKey } = made
  const answer = { organisation_id: organisationId, workspace_id: workspaceId, admin_key: adminApiKey, workspace_key: workspaceApiKey }
  console.log(json ? JSON.stringify(answer, null, 2) : `organisation admin key: ${adminApiKey}\nworkspace key:          ${workspaceApiKey}`)
  console.error('The first keys. They are shown this once, and stored nowhere.')
}
