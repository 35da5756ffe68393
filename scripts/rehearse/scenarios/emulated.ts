import { workspaceKey } from '../../../test/support/process.ts'
import { createClient } from '../client.ts'
import { storeProvider } from '../makers/stored.ts'

/** Stores the emulator's account and its provider `@slug` with requests that every level supports. */
export const storeEmulated = (origin: string, slug: string, providerUrl: string): Promise<string> =>
  storeProvider({ workspace: createClient({ baseUrl: origin }).with(workspaceKey), providerUrl, has: () => false }, slug)
