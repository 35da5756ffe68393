import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { addWait } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { howToUse } from '../one-time-link.ts'

interface LinkOptions {
  readonly email?: string
  readonly organisation?: string
  readonly json?: true
}

interface Options {
  readonly email: string
  readonly firstName?: string
  readonly lastName?: string
  readonly organisation?: string
  readonly json?: true
}

/** `gatehouse owner create` and `gatehouse owner link`. */
export function addOwner(program: Command): void {
  const owner = explain(program.command('owner').description('Makes the first owner of an organisation, and lets owners in.'), {
    example: 'gatehouse owner create --email ada@example.com',
  })
  const create = addWait(owner.command('create'))
    .description('Makes the first owner of an organisation, with an API key that is shown this once; refused when there is an owner.')
    .requiredOption('--email <address>', 'of the owner')
    .option('--first-name <name>', 'of the owner')
    .option('--last-name <name>', 'of the owner')
    .option('--organisation <slug>', 'which organisation, by slug or id, when there are several')
    .option('--json', '{ user_id, workspace_id, key }')
    .action(async ({ json, ...options }: Options, command: Command) => {
      const made = await make(command, options)
      answer(json, made, `${options.email} owns the organisation now. The key is shown this once and stored nowhere:\n  ${made.key}`)
    })
  explain(create, {
    example: 'gatehouse owner create --email ada@example.com --first-name Ada',
    exits: { 1: 'there is an owner already, or no such organisation', ...databaseExits },
  })
  const link = addWait(owner.command('link'))
    .description('Makes a one-time link by which a person becomes the first owner, or an owner sets a new password.')
    .option('--email <address>', 'of the owner, when there is one')
    .option('--organisation <slug>', 'which organisation, by slug or id, when there are several')
    .option('--json', '{ url, expires_at }')
    .action(async ({ json, ...options }: LinkOptions, command: Command) => {
      const made = await makeLink(command, options)
      answer(json, made, `This link serves once, until ${made.expires_at}. It is stored nowhere:\n  ${made.url}\n${howToUse}`)
    })
  explain(link, {
    example: 'gatehouse owner link --email ada@example.com',
    exits: { 1: 'no owner of the organisation has this address, there is no such organisation, or AUTH_MODE is SSO', ...databaseExits },
  })
}

/** The code of the whole product is loaded for this command alone. */
async function makeLink(command: Command, { email, organisation }: Omit<LinkOptions, 'json'>) {
  const { withInstallation } = await import('../installation.ts')
  const { findOrganisation } = await import('../keys/find.ts')
  const { performAsOperator } = await import('../keys/operator.ts')
  const { createSetupLink, setupLink } = await import('../../features/auth/index.ts')
  return withInstallation(command, async (installation) => {
    const { id } = await findOrganisation(installation, organisation)
    const body = { ...(email !== undefined && { email }) }
    return setupLink.parse(
      await performAsOperator(installation, createSetupLink, { organisationId: id, params: {}, body, path: 'owner link' }),
    )
  })
}

/** The code of the whole product is loaded for this command alone. */
async function make(command: Command, { email, firstName, lastName, organisation }: Omit<Options, 'json'>) {
  const { withInstallation } = await import('../installation.ts')
  const { findOrganisation } = await import('../keys/find.ts')
  const { performAsOperator } = await import('../keys/operator.ts')
  const { createFirstOwner, firstOwner } = await import('../../features/users/index.ts')
  const body = { email, ...(firstName !== undefined && { first_name: firstName }), ...(lastName !== undefined && { last_name: lastName }) }
  return withInstallation(command, async (installation) => {
    const { id } = await findOrganisation(installation, organisation)
    return firstOwner.parse(
      await performAsOperator(installation, createFirstOwner, { organisationId: id, params: {}, body, path: 'owner create' }),
    )
  })
}
