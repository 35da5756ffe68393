import { z } from 'zod'
import { deliverMails } from '../../app/mail/outbox.ts'
import { findPage } from '../../app/database/list.ts'
import { route } from '../../app/route.ts'
import { camelCasePages, toList } from '../../lib/paging.ts'
import { acceptInvite, identifyInvited } from './accept.ts'
import { Invite } from './invite.entity.ts'
import {
  acceptedInvite,
  acceptInviteBody,
  createdInvite,
  createInviteBody,
  inviteFilter,
  inviteList,
  inviteParams,
  inviteView,
  resentInvite,
  sorts,
} from './invite.schema.ts'
import { addInvite, findInvite, matchingInvites, presentInvite, renewInvite } from './invites.ts'

const resource = 'invite'
const empty = z.object({})

export const createInvite = route({
  method: 'POST',
  path: '/admin/users/invites',
  summary: 'Invite a person into the organisation',
  permission: 'organisation_users.create',
  resource,
  body: createInviteBody,
  response: createdInvite,
})(async ({ em, actor, deps, body, audit, afterCommit }) => {
  const { invite, link } = await addInvite(em, body, { actor, deps })
  audit({ id: invite.id })
  afterCommit(() => deliverMails(deps, actor))
  return { id: invite.id, invite_link: link }
})

export const listInvites = route({
  method: 'GET',
  path: '/admin/users/invites',
  summary: 'List the invitations of the organisation',
  permission: 'organisation_users.list',
  aliases: camelCasePages,
  query: inviteFilter,
  response: inviteList,
})(async ({ em, actor, deps, query }) => {
  const now = deps.clock.now()
  const where = matchingInvites(actor, query, new Date(now))
  const page = await findPage(em, Invite, { where, query, sorts })
  return toList(
    page.rows.map((row) => presentInvite(row, now)),
    page,
  )
})

export const readInvite = route({
  method: 'GET',
  path: '/admin/users/invites/:inviteId',
  summary: 'Read an invitation',
  permission: 'organisation_users.read',
  params: inviteParams,
  response: inviteView,
})(async ({ em, actor, deps, params }) => presentInvite(await findInvite(em, actor, { id: params.inviteId }), deps.clock.now()))

export const cancelInvite = route({
  method: 'DELETE',
  path: '/admin/users/invites/:inviteId',
  summary: 'Cancel an invitation; its link stops working',
  permission: 'organisation_users.delete',
  resource,
  action: 'cancel',
  params: inviteParams,
  response: empty,
})(async ({ em, actor, params, audit }) => {
  const invite = await findInvite(em, actor, { id: params.inviteId, open: true })
  invite.status = 'cancelled'
  audit({ id: invite.id })
  return {}
})

export const resendInvite = route({
  method: 'POST',
  path: '/admin/users/invites/:inviteId/resend',
  summary: 'Send an invitation again, with a new link and new time',
  permission: 'organisation_users.create',
  resource,
  action: 'resend',
  params: inviteParams,
  response: resentInvite,
})(async ({ em, actor, deps, params, audit, afterCommit }) => {
  const invite = await findInvite(em, actor, { id: params.inviteId, open: true })
  const link = await renewInvite(em, invite, { actor, deps })
  audit({ id: invite.id })
  afterCommit(() => deliverMails(deps, actor))
  return { inviteLink: link, invite_link: link }
})

export const acceptInvitation = route({
  method: 'POST',
  path: '/admin/users/invites/accept',
  summary: 'Accept an invitation with the secret of its link',
  permission: [],
  identify: ({ body }, deps) => identifyInvited(deps, body.token),
  resource,
  action: 'accept',
  body: acceptInviteBody,
  response: acceptedInvite,
})(async ({ em, actor, deps, body, audit }) => {
  const { answer } = await acceptInvite(em, { actor, deps, names: body })
  audit({ id: actor.id })
  return answer
})
