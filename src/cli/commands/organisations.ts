import type { Command } from 'commander'
import { uuidv7 } from '../../lib/uuid.ts'
import { answer } from '../answer.ts'
import { explain } from '../command-help.ts'
import { addWait } from '../database.ts'
import { databaseExits } from '../exit-codes.ts'
import { howToUse } from '../one-time-link.ts'

interface Options {
  readonly owner: string
  readonly slug?: string
  readonly workspace: string
  readonly json?: true
}

/** `gatehouse organisations create`. */
export function addOrganisations(program: Command): void {
  const organisations = explain(program.command('organisations').description('Makes further organisations.'), {
    example: 'gatehouse organisations create Acme --owner ada@acme.example',
  })
  const create = addWait(organisations.command('create'))
    .description('Makes an organisation, its default workspace and its owner, who gets in by a one-time link that is shown this once.')
    .argument('<name>', 'what to call it')
    .requiredOption('--owner <address>', 'the e-mail address of its owner')
    .option('--slug <slug>', 'its slug; by default one from its name')
    .option('--workspace <name>', 'the name of its default workspace', 'Default workspace')
    .option('--json', '{ organisation_id, organisation, workspace_id, owner_id, link: { url, expires_at } or null }')
    .action(async (name: string, { json, owner, slug, workspace }: Options, command: Command) => {
      const made = await make(command, { name, owner, workspace, ...(slug !== undefined && { slug }) })
      const { organisation, link } = made
      answer(
        json,
        made,
        link === null
          ? `The organisation ${organisation} is there. ${owner} signs in by the identity provider.`
          : `The organisation ${organisation} is there. ${owner} sets a password by this link, once, until ${link.expires_at}:\n  ${link.url}\n${howToUse}`,
      )
    })
  explain(create, {
    example: 'gatehouse organisations create "Acme Ltd" --slug acme --owner ada@acme.example',
    exits: { 1: 'another organisation has the slug', ...databaseExits },
  })
}

/** The code of the whole product is loaded for this command alone. */
async function make(command: Command, body: { readonly name: string } & Omit<Options, 'json'>) {
  const { withInstallation } = await import('../installation.ts')
  const { performAsOperator } = await import('../keys/operator.ts')
  const { createdOrganisation, createOrganisation } = await import('../../features/auth/index.ts')
  return withInstallation(command, async (installation) =>
    createdOrganisation.parse(
      await performAsOperator(installation, createOrganisation, {
        organisationId: uuidv7(),
        params: {},
        body,
        path: 'organisations create',
      }),
    ),
  )
}
