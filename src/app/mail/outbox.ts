import type { EntityManager } from '@mikro-orm/postgresql'
import type { MailConfig } from '../../config/config.ts'
import { mailAt } from '../../config/effect.ts'
import { hidingSecrets } from '../../lib/text/known-secrets.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { asSystem } from '../database/orm.ts'
import type { Deps } from '../deps.ts'
import { inWorkTable, turnOf, workOff } from '../due-work.ts'
import type { Job } from '../feature.ts'
import { render, type Variables } from './template.ts'
import { readTemplate, templates, type TemplateName } from './templates.ts'
import { transportTo } from './transport.ts'

/** A mail to be sent. */
export interface Mail {
  readonly organisationId: string
  readonly recipient: string
  readonly template: TemplateName
  readonly variables: Variables
  /** The id of its subject, by which `mailsAbout` finds the outcome; absent: the outcome is not kept. */
  readonly about?: string
}

/** Puts a mail into the transaction of its subject; does nothing when no mail server is set. Give `deliverMails` to `afterCommit`. */
export async function queueMail(em: EntityManager, { config, vault, clock }: Deps, mail: Mail): Promise<void> {
  if (config.mail === null) return
  const id = uuidv7()
  const sealed = await vault.encrypt(place(mail.organisationId, id), JSON.stringify(mail.variables))
  await em.execute(
    'INSERT INTO outgoing_mails (id, organisation_id, recipient, template, variables, next_attempt_at, about) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [id, mail.organisationId, mail.recipient, mail.template, sealed, new Date(clock.now()), mail.about ?? null],
  )
}

const place = (organisationId: string, rowId: string) => ({ organisationId, table: 'outgoing_mails', column: 'variables', rowId })

interface QueuedMail {
  readonly id: string
  readonly organisation_id: string
  readonly recipient: string
  readonly template: string
  readonly variables: Uint8Array
  readonly attempts: number
}

/** Half a day of trying. */
const maxAttempts = 10
const claimMs = 2 * 60_000
/** Connections to the mail server at a time. One organisation has half of them. */
const [atOnce, atOnceOfOne] = [4, 2]

/** Organisations take turns. A mail belongs to one process for two minutes, and is due again if that process dies. */
const claim = `
  WITH ${inWorkTable},
       waiting AS (SELECT d.id, d.next_attempt_at, ${turnOf('d.next_attempt_at')} AS turn
                     FROM outgoing_mails d
                    WHERE d.next_attempt_at <= ? AND (?::uuid IS NULL OR d.organisation_id = ?::uuid) AND d.id NOT IN (SELECT l.id FROM in_work l))
  UPDATE outgoing_mails d SET attempts = d.attempts + 1, next_attempt_at = ?
   WHERE d.id IN (SELECT o.id FROM waiting o WHERE o.turn <= ${atOnceOfOne} ORDER BY o.turn, o.next_attempt_at LIMIT ?)
     AND d.next_attempt_at <= ?
  RETURNING d.id, d.organisation_id, d.recipient, d.template, d.variables, d.attempts`

interface SendOptions {
  /** Null or absent: the mails of all. */
  readonly organisationId?: string | null
  readonly ending?: AbortSignal | undefined
}

/** Sends the mails that are due, until none is. */
export async function deliverMails(deps: Deps, { organisationId = null, ending }: SendOptions = {}): Promise<void> {
  const { mail } = deps.config
  if (mail === null) return
  await workOff<QueuedMail>({
    claim: (inWork, room) => {
      const now = deps.clock.now()
      const at = new Date(now)
      const values = [inWork, at, organisationId, organisationId, new Date(now + claimMs), room, at]
      return asSystem(deps.orm, (em) => em.execute<QueuedMail[]>(claim, values))
    },
    work: (waiting) =>
      deliver(waiting, mail, deps).catch((error: unknown) =>
        deps.log.error({ err: error, mail: waiting.id }, 'the outcome of a mail could not be noted'),
      ),
    atOnce,
    ending,
  })
}

async function deliver(waiting: QueuedMail, mail: MailConfig, deps: Deps): Promise<void> {
  try {
    await send(waiting, mail, deps)
    await settle(deps, end, [waiting.id, true, null, new Date(deps.clock.now())])
  } catch (error) {
    await failed(waiting, error, deps)
  }
}

async function send(
  { id, organisation_id, recipient, template, variables }: QueuedMail,
  mail: MailConfig,
  { vault, log, level }: Deps,
): Promise<void> {
  if (!isTemplate(template)) throw new Error(`there is no mail template ${template}`)
  const filled: unknown = JSON.parse(await vault.decrypt(place(organisation_id, id), variables))
  const { from, templatesPath, brand } = mailAt(mail, level)
  const { subject, html, text } = render(readTemplate(template, templatesPath, log), { ...brand, ...texts(filled) })
  const transport = await transportTo(mail)
  const message = { from, to: { name: '', address: recipient }, subject, html, text, messageId: `<${id}@gatehouse.invalid>` }
  await transport.sendMail(message).catch((error: unknown) => {
    throw withoutPassword(error, mail)
  })
}

/** Some servers repeat the sign-in that they refuse. */
function withoutPassword(error: unknown, { password }: MailConfig): unknown {
  if (error instanceof Error) error.message = hidingSecrets([password?.reveal() ?? ''])(error.message)
  return error
}

const isTemplate = (name: string): name is TemplateName => Object.hasOwn(templates, name)

const texts = (value: unknown): Variables =>
  typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)])) : {}

/** Takes a mail out of the box. The outcome stays when the mail has a subject. */
const end = `WITH ended AS (DELETE FROM outgoing_mails WHERE id = ? RETURNING id, organisation_id, about, recipient, attempts)
  INSERT INTO mail_outcomes (id, organisation_id, about, recipient, attempts, is_sent, last_error, ended_at)
  SELECT id, organisation_id, about, recipient, attempts, ?::boolean, ?::text, ?::timestamptz FROM ended WHERE about IS NOT NULL`

async function failed({ id, template, attempts }: QueuedMail, error: unknown, deps: Deps): Promise<void> {
  const message = error instanceof Error ? error.message : String(error)
  if (attempts >= maxAttempts) {
    deps.log.error({ err: error, mail: id, template, attempts }, 'a mail could not be sent, and is given up')
    return settle(deps, end, [id, false, message.slice(0, 500), new Date(deps.clock.now())])
  }
  deps.log.warn({ err: error, mail: id, template, attempts }, 'a mail could not be sent; it is tried again later')
  const next = new Date(deps.clock.now() + 2 ** attempts * 60_000)
  return settle(deps, 'UPDATE outgoing_mails SET next_attempt_at = ?, last_error = ? WHERE id = ?', [next, message.slice(0, 500), id])
}

const settle = ({ orm }: Deps, statement: string, values: readonly unknown[]): Promise<void> =>
  asSystem(orm, async (em) => void (await em.execute(statement, [...values])))

/** A mail that has a subject, and its outcome. */
export interface MailOutcome {
  readonly about: string
  readonly recipient: string
  readonly state: 'pending' | 'sent' | 'failed'
  readonly attempts: number
  /** In the words of the mail server; null: it took the mail, or was not asked yet. */
  readonly last_error: string | null
  readonly next_attempt_at: Date | string | null
  readonly ended_at: Date | string | null
}

/** Returns the mails about these subjects, in the order of their recipients. */
export async function mailsAbout(em: EntityManager, ids: readonly string[]): Promise<readonly MailOutcome[]> {
  if (ids.length === 0) return []
  const among = ids.map(() => '?').join(', ')
  return em.execute<MailOutcome[]>(
    `SELECT about, recipient, 'pending' AS state, attempts, last_error, next_attempt_at, NULL::timestamptz AS ended_at
       FROM outgoing_mails WHERE about IN (${among})
      UNION ALL
     SELECT about, recipient, CASE WHEN is_sent THEN 'sent' ELSE 'failed' END, attempts, last_error, NULL, ended_at
       FROM mail_outcomes WHERE about IN (${among})
      ORDER BY recipient`,
    [...ids, ...ids],
  )
}

/** Sends the mails that no request has sent. */
export const deliverMailsJob: Job = {
  name: 'deliver-mails',
  every: '*/5 * * * * *',
  irreversible: false,
  run: (deps, ending) => deliverMails(deps, { ending }),
}

const keptMs = 90 * 24 * 3_600_000

/** Deletes old outcomes of mails. */
export const pruneMailOutcomesJob: Job = {
  name: 'prune-mail-outcomes',
  every: '17 4 * * *',
  irreversible: true,
  async run({ orm, clock }) {
    await asSystem(orm, (em) => em.execute('DELETE FROM mail_outcomes WHERE ended_at < ?', [new Date(clock.now() - keptMs)]))
  },
}
