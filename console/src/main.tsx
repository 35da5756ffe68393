import './styles.ts'
import { localStorageColorSchemeManager, MantineProvider } from '@mantine/core'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiFailure } from './api/client.ts'
import { queries } from './api/query.ts'
import { Health } from './pages/system/health.tsx'
import { Failed } from './parts/state.tsx'
import { router } from './shell/router.tsx'
import { MeProvider, readMe, signInAddress, type Me } from './shell/session.tsx'
import { theme } from './theme.ts'

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
setNonce(nonce)

const manager = localStorageColorSchemeManager({ key: 'gatehouse-theme' })
const root = createRoot(document.querySelector('#root') ?? document.body)

const draw = (contents: React.ReactNode) =>
  root.render(
    <StrictMode>
      <MantineProvider theme={theme} colorSchemeManager={manager} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <QueryClientProvider client={queries}>{contents}</QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  )

/** Reads who is signed in, and shows the console, the page to sign in, or the reason for neither. */
async function open(): Promise<void> {
  try {
    const me: Me = await readMe()
    draw(
      <MeProvider value={me}>
        <RouterProvider router={router} />
      </MeProvider>,
    )
  } catch (error) {
    if (!(error instanceof ApiFailure)) throw error
    if (error.status === 401) location.replace(signInAddress())
    else
      draw(
        <main>
          <h1>Gatehouse</h1>
          <Failed what="console" error={error} onRetry={() => void open()} />
          <Health />
        </main>,
      )
  }
}

void open()
