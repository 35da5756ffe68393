import { z } from 'zod'
import { inTenant } from '../../app/database/orm.ts'
import { tenantEgress } from '../../app/tenant-egress.ts'
import { uuidv7 } from '../../lib/uuid.ts'
import { isLoopback } from './redirect-hosts.ts'
import { Organisation } from '../organisations/organisation.entity.ts'
import { McpClientDocument } from './mcp-client-document.entity.ts'
import { McpSignIn } from './mcp-sign-in.entity.ts'
import { currentVisit, type Visit } from './visit.ts'

/** The longest document. */
export const maxDocumentBytes = 16 * 1024
const timeoutMs = 2500
/** The bounds of the time for which a document counts, which its host sets. */
const freshMs = { least: 60_000, most: 3_600_000 } as const
/** An organisation keeps so many; the oldest make room. */
const mostDocuments = 500

/** The egress for the host of a document, by the rules of the visited organisation. */
async function egressOf({ deps, organisationId }: Visit) {
  const { settings } = await inTenant(deps.orm, organisationId, (em) => em.findOneOrFail(Organisation, { id: organisationId }))
  return tenantEgress(deps.egress, { organisationId, allowedHosts: hosts.parse(settings).allowed_custom_hosts })
}

/** Returns true if a person has let a program in: its document may have made room for others. */
const isLetIn = ({ deps, organisationId }: Visit, clientId: string): Promise<boolean> =>
  inTenant(deps.orm, organisationId, async (em) => (await em.count(McpSignIn, { organisationId, clientId })) > 0)

const hosts = z.looseObject({ allowed_custom_hosts: z.unknown().optional() })

/**
 * Returns the metadata document of a program, as the library asks for it (its `fetch`). A person in a browser makes us fetch one; for a program
 * that was let in the last one that was fetched counts, however old it is.
 */
export async function fetchDocument(url: string): Promise<Response> {
  const visit = currentVisit()
  const { deps, organisationId } = visit
  const stored = await inTenant(deps.orm, organisationId, (em) => em.findOne(McpClientDocument, { clientId: url }))
  if (stored !== null && (visit.userId === null || stored.freshUntil.getTime() > deps.clock.now())) return answer(stored.document)
  if (visit.userId === null && !(await isLetIn(visit, url))) return new Response(null, { status: 404 })
  const egress = await egressOf(visit)
  const headers = { accept: 'application/json' }
  const { status, text, headers: sent } = await egress.exchange({ url, method: 'GET', headers, timeoutMs, maxBytes: maxDocumentBytes })
  if (status !== 200) return new Response(null, { status: status >= 200 ? status : 502 })
  const document = asNative(text)
  // The library refuses it with the reason.
  if (document === null) return answer(text)
  await keep(visit, { url, document, freshFor: freshFor(sent['cache-control']) })
  return answer(document)
}

const answer = (document: string): Response => new Response(document, { headers: { 'content-type': 'application/json' } })

const typed = z.looseObject({ application_type: z.unknown().optional() })

/** A program without a type counts as one on the machine of a person, where its answer may go to any port. */
function asNative(text: string): string | null {
  try {
    const read = typed.parse(JSON.parse(text))
    return JSON.stringify({ application_type: 'native', ...read })
  } catch {
    return null
  }
}

function freshFor(cacheControl: string | undefined): number {
  const age = /(?:^|[\s,])max-age=(\d{1,9})(?:$|[\s,])/i.exec(cacheControl ?? '')?.[1]
  return Math.min(Math.max(age === undefined ? freshMs.most : Number(age) * 1000, freshMs.least), freshMs.most)
}

const store = `
  INSERT INTO mcp_client_documents (id, organisation_id, client_id, document, fetched_at, fresh_until) VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (organisation_id, client_id)
  DO UPDATE SET document = excluded.document, fetched_at = excluded.fetched_at, fresh_until = excluded.fresh_until`

interface FetchedDocument {
  readonly url: string
  readonly document: string
  readonly freshFor: number
}

async function keep({ deps, organisationId }: Visit, { url, document, freshFor: ms }: FetchedDocument): Promise<void> {
  const now = deps.clock.now()
  await inTenant(deps.orm, organisationId, async (em) => {
    await em.execute(store, [uuidv7(), organisationId, url, document, new Date(now), new Date(now + ms)])
    await em.execute(
      `DELETE FROM mcp_client_documents WHERE id IN (
         SELECT id FROM mcp_client_documents WHERE organisation_id = ? ORDER BY fetched_at DESC, id DESC OFFSET ?)`,
      [organisationId, mostDocuments],
    )
  })
}

/** The facts about a program that the library has checked. */
export interface DescribedClient {
  readonly clientId: string
  readonly redirectUris: readonly string[]
}

/** Returns whether a program may ask: its document comes from a host that the organisation allows, and answers go to https or to the own machine. */
export async function isAllowed({ clientId, redirectUris }: DescribedClient): Promise<boolean> {
  if (!redirectUris.every((uri) => isWebAddress(uri))) return false
  const visit = currentVisit()
  if (visit.userId === null) return true
  const egress = await egressOf(visit)
  return Promise.resolve(egress.origin(clientId, 'client_id')).then(
    () => true,
    () => false,
  )
}

function isWebAddress(uri: string): boolean {
  const url = URL.parse(uri)
  return url !== null && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname)))
}
