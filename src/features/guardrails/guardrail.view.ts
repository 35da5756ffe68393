import { z } from 'zod'
import { checkList, guardrailActions, compileGuardrail, type Guardrail } from '../../gateway/ports/checks.ts'
import { withPatterns } from '../../gateway/ports/patterns.ts'
import { isUuid } from '../../lib/is-uuid.ts'
import type { Vault } from '../../app/secrets/vault.ts'
import { byReference, documentLimits, type Views } from '../../app/snapshot/view.ts'
import { type LoadedView, weightOf } from '../../app/snapshot/view-cache.ts'
import { guardrailPlace } from './guardrail.entity.ts'

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

/** The guardrail that a scope sees under a slug or id. */
export const guardrailView: Views['guardrail'] = {
  limits: documentLimits,
  tables: ['guardrails'],
  key: byReference,
  find: ({ organisationId, workspaceId }, reference, { vault, opened }) => ({
    async read(ask) {
      const query = isUuid(reference) ? queries.id : queries.slug
      const [row] = await ask<GuardrailRow>({ ...query, values: [organisationId, workspaceId, reference] })
      return row === undefined ? null : opened(reference, () => openGuardrail(row, vault))
    },
  }),
}

const stored = z.object({ checks: checkList, actions: guardrailActions })

async function openGuardrail(row: GuardrailRow, vault: Vault): Promise<LoadedView<Guardrail>> {
  const text = await vault.decrypt(guardrailPlace(row), row.checks)
  const { id, slug, name, organisationId: owner, workspaceId } = row
  const { result: view, bytes } = await withPatterns({ owner, stored: true }, () => {
    const { checks, actions } = stored.parse({ checks: JSON.parse(text), actions: row.actions })
    return compileGuardrail({ id: slug, name, checks, actions, ofOrganisation: workspaceId === null })
  })
  const owners = workspaceId === null ? [owner] : [workspaceId, owner]
  return { view, dependsOn: [id, ...owners], until: Infinity, weight: weightOf(text, bytes), owner }
}
