import type { Pool } from 'pg'
import { z } from 'zod'
import { checkList, guardrailActions } from '../../gateway/checks/guardrail.schema.ts'
import { compileGuardrail, type Guardrail } from '../../gateway/checks/guardrail.ts'
import type { ProviderScope } from '../../gateway/ports.ts'
import { withPatterns } from '../../gateway/patterns/pattern-making.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import type { Vault } from '../secrets/vault.ts'
import { guardrailPlace } from './sealed-texts.ts'
import { type Loaded, weightOf } from './view-cache.ts'

interface GuardrailRow {
  readonly id: string
  readonly slug: string
  readonly name: string
  readonly organisationId: string
  readonly workspaceId: string | null
  readonly checks: Buffer
  readonly actions: unknown
}

/** A workspace sees its own guardrails and those of its organisation. */
const columns = `
  SELECT g.id, g.slug, g.name, g.organisation_id AS "organisationId", g.workspace_id AS "workspaceId", g.checks, g.actions
    FROM guardrails g
    JOIN organisations o ON o.id = g.organisation_id
   WHERE g.organisation_id = $1 AND ($2::uuid IS NULL OR g.workspace_id IS NULL OR g.workspace_id = $2)
     AND g.status = 'active' AND o.status = 'active'`
const queries = {
  id: { name: 'guardrail-by-id', text: `${columns} AND g.id = $3` },
  slug: { name: 'guardrail-by-slug', text: `${columns} AND g.slug = $3` },
}

/** A guardrail as it is stored. */
export interface SealedGuardrail {
  readonly open: (vault: Vault) => Promise<Loaded<Guardrail>>
}

/** Reads the guardrail that this scope sees under this slug or id; null when there is none. */
export async function readGuardrail(
  pool: Pool,
  { organisationId, workspaceId }: ProviderScope,
  reference: string,
): Promise<SealedGuardrail | null> {
  const query = isUuid(reference) ? queries.id : queries.slug
  const { rows } = await pool.query<GuardrailRow>({ ...query, values: [organisationId, workspaceId, reference] })
  const [row] = rows
  return row === undefined ? null : { open: (vault) => openGuardrail(row, vault) }
}

const stored = z.object({ checks: checkList, actions: guardrailActions })

async function openGuardrail(row: GuardrailRow, vault: Vault): Promise<Loaded<Guardrail>> {
  const text = await vault.decrypt(guardrailPlace(row), row.checks)
  const { id, slug, name, organisationId: owner, workspaceId } = row
  const { result: view, bytes } = await withPatterns({ owner, stored: true }, () => {
    const { checks, actions } = stored.parse({ checks: JSON.parse(text), actions: row.actions })
    return compileGuardrail({ id: slug, name, checks, actions, ofOrganisation: workspaceId === null })
  })
  const owners = workspaceId === null ? [owner] : [workspaceId, owner]
  return { view, dependsOn: [id, ...owners], until: Infinity, weight: weightOf(text, bytes), owner }
}
