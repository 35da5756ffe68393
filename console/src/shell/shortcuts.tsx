import { Button, Modal } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { isForPage } from './keys.ts'
import { addressOf, pagesOf } from './places.ts'
import { useScope } from './scope.ts'
import { settingOf, useSetting } from './settings.ts'

/** The pages to which `g` and a letter lead, by the ends of their paths. */
const places: Readonly<Record<string, string>> = { h: '/', l: '/logs', k: '/keys', p: '/providers', i: '/integrations', s: '/system' }

const focusOn = (selector: string) => () => document.querySelector<HTMLElement>(selector)?.focus()

/** Presses the first control of the page with one of these texts. */
const press =
  (...words: readonly string[]) =>
  () =>
    [...document.querySelectorAll<HTMLElement>('main button, main a')]
      .find(({ textContent }) => words.includes(textContent.trim()))
      ?.click()

/** Opens the tab beside the open one. */
const turn = (by: number) => () => {
  const tabs = [...document.querySelectorAll<HTMLElement>('main [role="tab"]')]
  const at = tabs.findIndex((tab) => tab.getAttribute('aria-selected') === 'true')
  const to = at === -1 ? undefined : tabs[at + by]
  to?.click()
  to?.focus()
}

interface Shortcut {
  readonly keys: string
  readonly words: string
  readonly run?: () => void
}

const shortcuts: readonly Shortcut[] = [
  { keys: 'g h', words: 'Home' },
  { keys: 'g l', words: 'Logs' },
  { keys: 'g k', words: 'API keys' },
  { keys: 'g p', words: 'Providers' },
  { keys: 'g i', words: 'Integrations' },
  { keys: 'g s', words: 'System' },
  { keys: '/', words: 'Filter', run: focusOn('[role="search"] input') },
  { keys: 't', words: 'Time range', run: focusOn('[aria-label="Time range"]') },
  { keys: 'r', words: 'Refresh', run: press('Refresh') },
  { keys: 'e', words: 'Edit', run: press('Change', 'Credential') },
  { keys: '[', words: 'The tab before', run: turn(-1) },
  { keys: ']', words: 'The next tab', run: turn(1) },
  { keys: 'y', words: 'Copy the link of the page' },
  { keys: 'j k', words: 'Rows' },
  { keys: 'Enter', words: 'Open a row' },
  { keys: 'f', words: 'Filter the logs for the value of a cell' },
  { keys: 'Shift+F10', words: 'The menu of a cell of the logs' },
  { keys: 'Esc', words: 'Close' },
  { keys: 'Ctrl+K', words: 'Search and commands' },
  { keys: '?', words: 'This list' },
]

/** A pair of keys must follow one another within this time. */
const pairMs = 1500

/** Follows the keys of the page. A single key does nothing in fields and dialogs, with a modifier, or once they are switched off. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false)
  const [said, setSaid] = useState('')
  const begun = useRef(0)
  const scope = useScope()
  const navigate = useNavigate()
  useEffect(() => {
    const goTo = (path: string | undefined) => {
      const page = scope === null ? undefined : pagesOf(scope).find((one) => one.path === path)
      if (scope !== null && page !== undefined) void navigate({ to: addressOf(scope, page) as never })
    }
    const single: Readonly<Record<string, () => void>> = {
      '?': () => setOpen(true),
      y: () =>
        void copyAddress().then(
          () => setSaid('The link is copied.'),
          () => setSaid('The link could not be copied: take it from the address bar.'),
        ),
    }
    const listen = (event: KeyboardEvent) => {
      if (settingOf('shortcuts') === 'off' || !isForPage(event)) return
      const isPair = event.timeStamp - begun.current < pairMs && begun.current > 0
      begun.current = event.key === 'g' && !isPair ? event.timeStamp : 0
      const run = isPair ? () => goTo(places[event.key]) : (single[event.key] ?? shortcuts.find(({ keys }) => keys === event.key)?.run)
      if (run === undefined) return
      event.preventDefault()
      run()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [navigate, scope])
  return (
    <>
      <span role="status" className="hidden">
        {said}
      </span>
      <ShortcutList isOpen={isOpen} onClose={() => setOpen(false)} />
    </>
  )
}

async function copyAddress(): Promise<void> {
  if (navigator.clipboard === undefined) throw new Error('no clipboard')
  await navigator.clipboard.writeText(location.href)
}

function ShortcutList({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const [, setShortcuts] = useSetting('shortcuts')
  const switchOff = () => {
    setShortcuts('off')
    onClose()
  }
  return (
    <Modal opened={isOpen} onClose={onClose} title="Keyboard shortcuts" closeButtonProps={{ 'aria-label': 'Close' }}>
      <div className="stack">
        <table className="plain" aria-label="Keyboard shortcuts">
          <tbody>
            {shortcuts.map(({ keys, words }) => (
              <tr key={keys}>
                <th scope="row">
                  <kbd>{keys}</kbd>
                </th>
                <td>{words}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <div className="row">
          <Button variant="default" onClick={switchOff}>
            Switch shortcuts off
          </Button>
          <span className="hint">Your account switches them on again.</span>
        </div>
      </div>
    </Modal>
  )
}
