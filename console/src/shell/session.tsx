import { createContext, useContext } from 'react'
import { call, consolePath, keepCsrfToken, type Answer } from '../api/client.ts'

export type Me = Answer<'GET /auth/me'>
export type Place = Me['workspaces'][number]

/** Reads who is signed in, with the rights. */
export async function readMe(): Promise<Me> {
  const me = await call('GET /auth/me', {})
  keepCsrfToken(me.csrf_token)
  return me
}

const MeContext = createContext<Me | null>(null)
export const MeProvider = MeContext.Provider

/** Returns the person who is signed in. */
export function useMe(): Me {
  const me = useContext(MeContext)
  if (me === null) throw new Error('nobody is signed in')
  return me
}

/** Returns the address of the page to sign in, from where the person comes back to this one. */
export const signInAddress = (): string =>
  `${consolePath}/sign-in?return_to=${encodeURIComponent(location.pathname.slice(consolePath.length - '/console'.length) + location.search)}`

export async function signOut(): Promise<void> {
  const { logout_url: elsewhere } = await call('POST /auth/logout', {})
  location.assign(elsewhere ?? `${consolePath}/sign-in`)
}
