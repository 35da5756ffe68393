import type { Making, Maker } from '../maker.ts'
import { storeProvider } from './stored.ts'

/** A prompt with a partial, two versions and a label, called and rendered; and deleted ones. */
export const prompts: Maker = async (making) => {
  const { client, workspace, workspaceKey, name } = making
  const partial = await makePartials(making)
  const provider = name('prompts')
  await storeProvider(making, provider)
  const collection = await workspace.post('/collections', { name: name('prompts') })
  const content = (text: string) => ({
    string: JSON.stringify([{ role: 'user', content: `{{>${partial}}} ${text} {{name}}` }]),
    parameters: { temperature: 0 },
    virtual_key: provider,
    model: 'gpt-4o',
  })
  const prompt = await workspace.post('/prompts', { name: name('prompt'), collection_id: collection.id, ...content('Greet') })
  const path = `/prompts/${prompt.id}`
  await workspace.put(path, { name: name('renamed prompt'), ...content('Welcome') })
  const label = await workspace.post('/labels', { name: name('prompt-label') })
  await workspace.put(`${path}/versions/1`, { label_id: label.id })
  await workspace.put(`${path}/makeDefault`, { version: 2 })
  await workspace.get(`${path}/versions/1`)
  await workspace.list(`${path}/versions`, 2)
  await workspace.post(`${path}/render`, { variables: { name: 'Ada' } })
  await client.through(workspaceKey, `@${provider}`).post(`${path}/completions`, { variables: { name: 'Ada' } })
  const deleted = await workspace.post('/prompts', { name: name('deleted prompt'), collection_id: collection.id, ...content('Go') })
  await workspace.remove(`/prompts/${deleted.id}`)
  await workspace.get(path)
  await workspace.list('/prompts', 1)
}

/** The slug of one that stays. */
async function makePartials({ workspace, name }: Making): Promise<string> {
  const { id, slug } = await workspace.post('/prompts/partials', { name: name('partial'), string: 'Dear reader.' })
  const path = `/prompts/partials/${id}`
  await workspace.put(path, { string: 'Dear {{name}}.' })
  await workspace.put(`${path}/makeDefault`, { version: 2 })
  const deleted = await workspace.post('/prompts/partials', { name: name('deleted partial'), string: 'Gone.' })
  await workspace.remove(`/prompts/partials/${deleted.id}`)
  await workspace.get(path)
  await workspace.list(`${path}/versions`, 2)
  await workspace.list('/prompts/partials', 1)
  return slug
}
