import { Button, Modal } from '@mantine/core'
import { Outlet } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { queries } from '../api/query.ts'
import { ApiFailure } from '../api/client.ts'
import { Page } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import { Sidebar } from './navigation.tsx'
import { signInAddress } from './session.tsx'
import { Shortcuts } from './shortcuts.tsx'

/** The frame of all pages: navigation, notices, and the page. */
export function Shell() {
  const [menu, setMenu] = useState(false)
  return (
    <div className="shell">
      <header role="region" aria-label="Notices">
        <OfflineBar />
        <Button
          className="menu-button"
          variant="default"
          aria-expanded={menu}
          aria-controls="navigation"
          onClick={() => setMenu((open) => !open)}
        >
          Menu
        </Button>
      </header>
      <Sidebar open={menu} onLeave={() => setMenu(false)} />
      <main>
        <Outlet />
      </main>
      <EndedSession />
      <Shortcuts />
    </div>
  )
}

/** The page for an address that the console does not have. */
export const Missing = () => (
  <Page title="Not found">
    <State title="There is no such page here." alert>
      <p>The address may be of another release, or incomplete.</p>
    </State>
  </Page>
)

/** Calls back with the failure of each read and write. */
function useFailures(onFailure: (failure: ApiFailure) => void, onSuccess: () => void): void {
  useEffect(() => {
    const seen = (type: string, state: { readonly status: string; readonly error: unknown }) => {
      if (type !== 'updated') return
      if (state.error instanceof ApiFailure) onFailure(state.error)
      else if (state.status === 'success') onSuccess()
    }
    const leave = [
      queries.getQueryCache().subscribe((event) => seen(event.type, event.query.state)),
      queries.getMutationCache().subscribe((event) => event.mutation && seen(event.type, event.mutation.state)),
    ]
    return () => leave.forEach((stop) => stop())
  }, [onFailure, onSuccess])
}

/** States since when there is no connection. */
function OfflineBar() {
  const [since, setSince] = useState<string | null>(null)
  useEffect(() => {
    const lost = () => setSince((former) => former ?? new Date().toTimeString().slice(0, 5))
    const back = () => setSince(null)
    addEventListener('offline', lost)
    addEventListener('online', back)
    return () => {
      removeEventListener('offline', lost)
      removeEventListener('online', back)
    }
  }, [])
  if (since === null) return null
  return (
    <div className="bar" role="alert">
      No connection to Gatehouse since {since}. What you see is from before.
    </div>
  )
}

/** One dialog when the session has ended; what is typed on the page stays. */
function EndedSession() {
  const [ended, setEnded] = useState(false)
  const [failed] = useState(() => (failure: ApiFailure) => failure.status === 401 && setEnded(true))
  const [succeeded] = useState(() => () => setEnded(false))
  useFailures(failed, succeeded)
  return (
    <Modal opened={ended} onClose={() => setEnded(false)} title="You were signed out" closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className="stack">
        <p>Your session has ended. Sign in to go on.</p>
        <Button component="a" href={signInAddress()}>
          Sign in
        </Button>
      </div>
    </Modal>
  )
}
