import { randomUUID } from 'node:crypto'
import { openPrompt, type Prompt, type StoredPrompt } from '../../src/gateway/prompts/prompt.ts'

/** A prompt as the snapshot returns it, with the fields of a test. */
export const promptOf = (given: Partial<StoredPrompt> = {}, partials: Readonly<Record<string, string>> = {}): Promise<Prompt> =>
  openPrompt(
    {
      id: randomUUID(),
      slug: 'pp-test',
      organisationId: randomUUID(),
      workspaceId: randomUUID(),
      versionId: randomUUID(),
      version: 1,
      string: '[{"role":"user","content":"Hi {{name}}"}]',
      isRaw: false,
      virtualKey: 'mine',
      model: 'gpt-4o',
      parameters: {},
      functions: null,
      tools: null,
      toolChoice: null,
      templateMetadata: {},
      ...given,
    },
    (names) => Promise.resolve(new Map(names.map((name) => [name, partials[name] ?? null]))),
  )
