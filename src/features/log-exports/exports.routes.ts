import { tellEvent } from '../../app/events/notice.ts'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { assignDefined } from '../../lib/assign-defined.ts'
import { ApiError } from '../../lib/errors.ts'
import { containing, toList } from '../../lib/paging.ts'
import { workspaceFilter } from '../workspaces/index.ts'
import { exportableFields } from '../../lib/access/export-settings.ts'
import { demandFields, readDeniedFields } from './denied-fields.ts'
import { deniedAmong, namedDenied } from './export-fields.ts'
import { estimateExport, expectedRows, unknownSize } from './estimate.ts'
import {
  createExportBody,
  exportDownload,
  exportEstimate,
  exportItem,
  exportList,
  exportParams,
  exportQuery,
  exportReference,
  exportSorts,
  exportTask,
  restrictions,
  restrictionsQuery,
  updateExportBody,
} from './export.schema.ts'
import { countExported, findExport, ownershipOf, presentExport, readFilters, visibleExports, workspaceOf } from './exports.ts'
import { LogExport } from './log-export.entity.ts'
import { contentOf } from './wanted.ts'
import { signedUrl } from './signed-url.ts'

const permission = 'logs.export'
const resource = 'log-export'
const params = exportParams

export const createExport = route({
  method: 'POST',
  path: '/logs/exports',
  summary: 'Draft an export of logs',
  permission,
  resource,
  action: 'create',
  body: createExportBody,
  response: exportReference,
})(async ({ em, actor, body, audit }) => {
  const { filters, format } = body
  readFilters(filters)
  const workspaceId = await workspaceOf(em, actor, body)
  const content = contentOf(body, null)
  await demandFields(em, actor.organisationId, content.fields)
  const row = em.create(LogExport, {
    organisationId: actor.organisationId,
    workspaceId,
    description: body.description ?? (content.kind === 'logs' ? 'Logs' : 'Costs'),
    ...content,
    format,
    filters,
    createdBy: actor.id,
    progress: null,
    ...ownershipOf(actor),
  })
  await em.flush()
  audit({ id: row.id, workspaceId })
  return { id: row.id, total: await countExported(em, row), object: 'export' as const }
})

export const estimateNewExport = route({
  method: 'POST',
  path: '/logs/exports/estimate',
  summary: 'Estimate the size of the file of an export, and list its denied fields',
  permission,
  resource,
  action: 'estimate',
  effect: 'none',
  body: createExportBody,
  costly: () => true,
  response: exportEstimate,
})(async ({ em, actor, body, deps }) => {
  const { filters, format } = body
  readFilters(filters)
  const workspaceId = await workspaceOf(em, actor, body)
  const content = contentOf(body, null)
  const denied = namedDenied(content.fields, await readDeniedFields(em, actor.organisationId))
  const fields = content.fields.filter((field) => !denied.some((one) => one.field === field))
  // Costs are made of all their fields: without one there is no such export.
  const isRefused = content.kind === 'focus' ? denied.length > 0 : fields.length === 0
  const wanted = { ...content, fields, format, filters, workspaceId, organisationId: actor.organisationId, ...ownershipOf(actor) }
  const { rows, bytes, isExact, sampledRows } = isRefused ? unknownSize : await estimateExport(em, wanted, deps)
  return { object: 'export.estimate' as const, rows, bytes, is_exact: isExact, sampled_rows: sampledRows, denied_fields: denied }
})

export const listExports = route({
  method: 'GET',
  path: '/logs/exports',
  summary: 'List exports of logs',
  permission,
  query: exportQuery,
  response: exportList,
})(async ({ em, actor, query }) => {
  const workspaceId = await workspaceFilter(em, actor, query.workspace_id)
  const description = containing(query.search)
  const where = {
    ...visibleExports(actor),
    ...(workspaceId !== null && { workspaceId }),
    ...(query.status !== undefined && { status: query.status }),
    ...(description !== undefined && { description }),
  }
  const page = await findPage(em, LogExport, { where, query, sorts: exportSorts })
  const denied = await readDeniedFields(em, actor.organisationId)
  return toList(
    page.rows.map((row) => presentExport(row, denied)),
    page,
  )
})

export const readRestrictions = route({
  method: 'GET',
  path: '/logs/exports/field-restrictions',
  summary: 'List the fields that exports can have, and the denied ones',
  permission,
  query: restrictionsQuery,
  response: restrictions,
})(async ({ em, actor, query }) => {
  await workspaceFilter(em, actor, query.workspace_id)
  const denied = deniedAmong(exportableFields, await readDeniedFields(em, actor.organisationId))
  return { denied_fields: [...denied], fields: [...exportableFields], object: 'export.field-restrictions' as const }
})

export const readExport = route({
  method: 'GET',
  path: '/logs/exports/:exportId',
  summary: 'Read an export of logs, and how far it is',
  permission,
  params,
  response: exportItem,
})(async ({ em, actor, params: { exportId } }) => {
  const row = await findExport(em, actor, { id: exportId })
  return presentExport(row, await readDeniedFields(em, actor.organisationId))
})

export const updateExport = route({
  method: 'PUT',
  path: '/logs/exports/:exportId',
  summary: 'Change an export that was not started',
  permission,
  resource,
  action: 'update',
  params,
  body: updateExportBody,
  response: exportReference,
})(async ({ em, actor, params: { exportId }, body, audit }) => {
  const row = await findExport(em, actor, { id: exportId, forWrite: true })
  demandStatus(row, ['draft'], 'Only a draft can be changed')
  const { filters, format, description } = body
  readFilters(filters)
  const content = contentOf(body, row)
  await demandFields(em, actor.organisationId, content.fields)
  const isElsewhere = body.workspace_id !== undefined || filters['workspace_slug'] !== undefined
  const workspaceId = isElsewhere ? await workspaceOf(em, actor, body) : (row.workspaceId ?? null)
  assignDefined(row, { filters, format, description, workspaceId, ...content, ...ownershipOf(actor) })
  await em.flush()
  audit({ id: row.id, workspaceId })
  return { id: row.id, total: await countExported(em, row), object: 'export' as const }
})

const untouched = {
  parts: 0,
  rowCount: 0,
  bytes: 0,
  sha256: null,
  progress: null,
  attempts: 0,
  workedAt: null,
  leaseToken: null,
  leaseUntil: null,
}

export const startExport = route({
  method: 'POST',
  path: '/logs/exports/:exportId/start',
  summary: 'Start an export; one that failed or was stopped begins anew',
  permission,
  resource,
  action: 'start',
  params,
  response: exportTask,
})(async ({ em, actor, params: { exportId }, deps, audit }) => {
  const row = await findExport(em, actor, { id: exportId, forWrite: true })
  demandStatus(row, ['draft', 'stopped', 'failed'], 'It runs already, or is done')
  await demandFields(em, actor.organisationId, row.fields)
  await em.execute('DELETE FROM log_export_parts WHERE export_id = ?', [row.id])
  const { organisationId, workspaceId, kind, format, filters, fields, options } = row
  const ownership = ownershipOf(actor)
  const expected = await expectedRows(em, { organisationId, workspaceId, kind, format, filters, fields, options, ...ownership }, deps)
  Object.assign(row, {
    ...ownership,
    expectedRows: expected,
    status: 'in_progress',
    error: null,
    startedAt: new Date(deps.clock.now()),
    endedAt: null,
    expiresAt: null,
    ...untouched,
  })
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  await tellEvent(em, { topic: 'exports', organisationId: row.organisationId, id: row.id })
  return { message: 'The export has started.', object: 'export' as const }
})

export const cancelExport = route({
  method: 'POST',
  path: '/logs/exports/:exportId/cancel',
  summary: 'Stop a running export, and delete its data so far',
  permission,
  resource,
  action: 'cancel',
  params,
  response: exportTask,
})(async ({ em, actor, params: { exportId }, deps: { clock }, audit }) => {
  const row = await findExport(em, actor, { id: exportId, forWrite: true })
  demandStatus(row, ['in_progress'], 'Only an export that runs can be stopped')
  await em.execute('DELETE FROM log_export_parts WHERE export_id = ?', [row.id])
  Object.assign(row, { status: 'stopped', endedAt: new Date(clock.now()), ...untouched })
  audit({ id: row.id, workspaceId: row.workspaceId ?? null })
  await tellEvent(em, { topic: 'exports', organisationId: row.organisationId, id: row.id })
  return { message: 'The export was stopped.', object: 'export' as const }
})

export const downloadExport = route({
  method: 'GET',
  path: '/logs/exports/:exportId/download',
  summary: 'Get a link to the file of an export',
  permission,
  params,
  response: exportDownload,
})(async ({ em, actor, params: { exportId }, deps }) => {
  const row = await findExport(em, actor, { id: exportId })
  demandStatus(row, ['success'], 'There is no file yet')
  demandKept(row, deps.clock.now())
  await demandFields(em, actor.organisationId, row.fields)
  return { signed_url: signedUrl(row.id, deps) }
})

function demandStatus({ status }: LogExport, good: readonly LogExport['status'][], message: string): void {
  if (!good.includes(status)) throw new ApiError('AB07', `${message}: the export is ${status}.`, { param: 'exportId' })
}

/** Refuses a file whose time is over. */
export function demandKept({ expiresAt }: Pick<LogExport, 'expiresAt'>, now: number): void {
  if ((expiresAt?.getTime() ?? Infinity) > now) return
  throw new ApiError('AB07', 'The file of this export was deleted, since its time was over. Make another export.', { param: 'exportId' })
}

export const exportRoutes = [
  createExport,
  estimateNewExport,
  listExports,
  readRestrictions,
  readExport,
  updateExport,
  startExport,
  cancelExport,
  downloadExport,
]
