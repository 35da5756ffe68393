import type { Client, Made } from '../client.ts'
import type { Maker, Making } from '../maker.ts'

/** Organisations come with the first start. */
export const organisations: Maker = async ({ admin }) => {
  const { id } = await admin.get('/admin/organisation')
  await admin.get('/organisations')
  await admin.get(`/organisations/${id}`)
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

async function addMembers({ client, admin, name }: Making, path: string): Promise<void> {
  const [ada, bob] = [await plantUser(client, name('member-ada')), await plantUser(client, name('member-bob'))]
  await admin.post(path, { users: [ada, bob].map(({ id }) => ({ id, role: 'member' })) })
  await admin.put(`${path}/${ada.id}`, { role: 'manager' })
  await admin.remove(`${path}/${bob.id}`)
  await admin.get(`${path}/${ada.id}`)
  await admin.list(path, 1)
}

/** Users who were changed and deleted. They come by invitation or single sign-on, for which nobody can be waited for here. */
export const users: Maker = async ({ client, admin, name }) => {
  const [ada, bob] = [await plantUser(client, name('ada')), await plantUser(client, name('bob'))]
  await admin.put(`/admin/users/${ada.id}`, { role: 'admin', first_name: 'Ada' })
  await admin.remove(`/admin/users/${bob.id}`)
  await admin.get(`/admin/users/${ada.id}`)
  await admin.list('/admin/users', 2)
}

const plantUser = (client: Client, name: string): Promise<Made> =>
  client.plant(
    `INSERT INTO users (id, organisation_id, email, role) SELECT gen_random_uuid(), id, $1, 'member' FROM organisations RETURNING id`,
    [`${name}@example.com`],
  )
