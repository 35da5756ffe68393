import type { Made } from '../client.ts'
import type { Maker, Making } from '../maker.ts'

/** Organisations come with the first start. */
export const organisations: Maker = async ({ admin, name }) => {
  const { id } = await admin.get('/admin/organisation')
  await admin.put('/admin/organisation', { name: name('organisation') })
  await admin.put('/admin/organisation/defaults', { input_guardrails: [], output_guardrails: [] })
  await admin.get('/admin/organisation/defaults')
  await admin.list('/organisations', 1)
  await admin.get(`/organisations/${id}`)
}

/** A setting of the organisation, which is read with it. */
export const setting =
  (settings: Readonly<Record<string, unknown>>): Maker =>
  async ({ admin }) => {
    await admin.put('/admin/organisation', { settings })
    await admin.get('/admin/organisation')
  }

/** A workspace with a member, and one that was archived and restored; the first one comes with the first start. */
export const workspaces: Maker = async (making) => {
  const { admin, workspace, name } = making
  for (const [caller, path] of [
    [admin, '/admin/workspaces'],
    [workspace, '/workspaces'],
  ] as const) {
    const { id, slug } = await caller.list(path, 1)
    await caller.get(`${path}/${id}`)
    await caller.get(`${path}/${slug}`)
  }
  const { id } = await admin.post('/admin/workspaces', { name: name('workspace'), slug: name('workspace'), description: 'Used.' })
  await admin.put(`/admin/workspaces/${id}`, { name: name('renamed workspace'), defaults: { metadata: { team: name('team') } } })
  await addMembers(making, `/admin/workspaces/${id}/users`)
  const archived = await admin.post('/admin/workspaces', { name: name('archived') })
  await admin.remove(`/admin/workspaces/${archived.id}`, { force_delete: true })
  await admin.post(`/admin/workspaces/${archived.id}/restore`)
  await admin.get(`/admin/workspaces/${id}`)
}

async function addMembers(making: Making, path: string): Promise<void> {
  const { admin } = making
  const [ada, bob] = [await addUser(making, 'member-ada'), await addUser(making, 'member-bob')]
  await admin.post(path, { users: [ada, bob].map((id) => ({ id, role: 'member' })) })
  await admin.put(`${path}/${ada}`, { role: 'manager' })
  await admin.remove(`${path}/${bob}`)
  await admin.get(`${path}/${ada}`)
  await admin.list(path, 1)
}

/** Users who were invited, changed and deleted, and invitations that were sent again and called off. */
export const users: Maker = async (making) => {
  const { admin } = making
  const [ada, bob] = [await addUser(making, 'ada'), await addUser(making, 'bob')]
  await admin.put(`/admin/users/${ada}`, { role: 'admin', first_name: 'Ada' })
  await admin.remove(`/admin/users/${bob}`)
  await admin.get(`/admin/users/${ada}`)
  await admin.list('/admin/users', 2)
  const [open, cancelled] = [await invite(making, 'open'), await invite(making, 'cancelled')]
  await admin.post(`/admin/users/invites/${open.id}/resend`)
  await admin.remove(`/admin/users/invites/${cancelled.id}`)
  await admin.get(`/admin/users/invites/${open.id}`)
  await admin.list('/admin/users/invites', 3)
}

const invite = ({ admin, name }: Making, who: string): Promise<Made> =>
  admin.post('/admin/users/invites', { email: `${name(who)}@example.com`, role: 'member' })

/** A person who is signed out everywhere, and whose second factors are taken away. */
export const auth: Maker = async (making) => {
  const id = await addUser(making, 'guest')
  await making.admin.remove(`/admin/users/${id}/sessions`)
  await making.admin.remove(`/admin/users/${id}/second-factors`)
}

/** The rights of a person and a key. */
export const rights: Maker = async (making) => {
  const { admin, workspace, client, name } = making
  await admin.get(`/admin/users/${await addUser(making, 'colleague')}/rights?scope=logs.view`)
  const { id } = await workspace.post('/api-keys/workspace/service', { name: name('right'), scopes: ['logs.list'] })
  await workspace.get(`/api-keys/${id}/rights?scope=logs.list`)
  // A key reads another catalogue here with each release that brings a scope or a setting.
  for (const path of ['/catalogue/scopes', '/catalogue/settings']) await client.with(name('nobody')).refused(401, 'GET', path)
}

/** The id of a person who has accepted an invitation. */
async function addUser(making: Making, who: string): Promise<string> {
  const { invite_link: link } = await invite(making, who)
  const token = /[\w-]+$/.exec(link)?.[0]
  const { user_id: id } = await making.admin.post('/admin/users/invites/accept', { token })
  return id
}
