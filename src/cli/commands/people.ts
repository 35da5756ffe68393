import type { Command } from 'commander'
import { answer } from '../answer.ts'
import { addWait } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { explain } from '../command-help.ts'
import { howToUsePassword } from '../one-time-link.ts'

interface LinkOptions {
  readonly email: string
  readonly organisation?: string
  readonly json?: true
}

/** `gatehouse people link`. */
export function addPeople(program: Command): void {
  const people = explain(program.command('people').description('Lets people in who are no owners.'), {
    example: 'gatehouse people link --email ada@example.com',
  })
  const link = addWait(people.command('link'))
    .description('Makes a one-time link by which a person who is no owner sets a password; it needs no mail.')
    .requiredOption('--email <address>', 'of the person')
    .option('--organisation <slug>', 'which organisation, by slug or id, when there are several')
    .option('--json', '{ url, expires_at }')
    .action(async ({ json, ...options }: LinkOptions, command: Command) => {
      const made = await makeLink(command, options)
      answer(json, made, `This link serves once, until ${made.expires_at}. It is stored nowhere:\n  ${made.url}\n${howToUsePassword}`)
    })
  explain(link, {
    example: 'gatehouse people link --email ada@example.com',
    exits: {
      1: 'the organisation has no such person, the person is an owner or signs in by the identity provider alone, or AUTH_MODE is SSO',
      ...databaseExits,
    },
  })
}

/** The code of the whole product is loaded for this command alone. */
async function makeLink(command: Command, { email, organisation }: Omit<LinkOptions, 'json'>) {
  const { withInstallation } = await import('../installation.ts')
  const { findOrganisation } = await import('../keys/find.ts')
  const { performAsOperator } = await import('../keys/operator.ts')
  const { createPeopleLink, setupLink } = await import('../../features/auth/index.ts')
  return withInstallation(command, async (installation) => {
    const { id } = await findOrganisation(installation, organisation)
    const asked = { organisationId: id, params: {}, body: { email }, path: 'people link' }
    return setupLink.parse(await performAsOperator(installation, createPeopleLink, asked))
  })
}
