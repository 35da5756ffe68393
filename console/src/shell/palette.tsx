import { Button, Modal, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type KeyboardEvent } from 'react'
import { addressOf, pagesOf, scopePath } from './places.ts'
import { organisationScope, useScope, workspaceScope } from './scope.ts'
import { signOut, useMe, type Me } from './session.tsx'

interface Command {
  readonly label: string
  readonly run: () => void
}

/** Opens the list of pages, workspaces and actions, also by Ctrl+K. */
export function PaletteButton() {
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      setOpen(true)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Search and commands
      </Button>
      <Modal opened={open} onClose={() => setOpen(false)} title="Search and commands" closeButtonProps={{ 'aria-label': 'Close' }}>
        <Palette onDone={() => setOpen(false)} />
      </Modal>
    </>
  )
}

function Palette({ onDone }: { readonly onDone: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const commands = useCommands(text)
  const run = (command: Command | undefined) => {
    if (command === undefined) return
    onDone()
    command.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, commands.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0))
    else if (event.key === 'Enter') run(commands[at])
    else return
    event.preventDefault()
  }
  return (
    <div className="stack">
      <TextInput
        data-autofocus
        label="Page, workspace, action or #log-id"
        role="combobox"
        aria-expanded="true"
        aria-controls="commands"
        aria-activedescendant={commands.length > 0 ? `command-${at}` : undefined}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id="commands" aria-label="Commands">
        {commands.map((command, index) => (
          <div
            key={command.label}
            id={`command-${index}`}
            role="option"
            aria-selected={index === at}
            className="palette-row"
            onClick={() => run(command)}
          >
            {command.label}
          </div>
        ))}
      </div>
      {commands.length === 0 && <p role="status">Nothing matches.</p>}
    </div>
  )
}

function useCommands(text: string): readonly Command[] {
  const me = useMe()
  const own = organisationScope(me)
  const scope = useScope() ?? own
  const navigate = useNavigate()
  const go = (to: string) => () => void navigate({ to: to as never })
  if (text.startsWith('#'))
    return [{ label: `Open the log ${text.slice(1)}`, run: go(`${scopePath(scope)}/logs/${encodeURIComponent(text.slice(1))}`) }]
  const all = [
    ...pagesOf(scope).map((page) => ({ label: page.nav?.label ?? '', run: go(addressOf(scope, page)) })),
    ...(scope.kind === 'workspace' && me.scopes.length > 0
      ? pagesOf(own).map((page) => ({ label: `${page.nav?.label ?? ''} (organisation)`, run: go(addressOf(own, page)) }))
      : []),
    ...placesOf(me).map((place) => ({ label: `Go to ${place.name}`, run: go(scopePath(place)) })),
    { label: 'Your account', run: go('/me') },
    { label: 'Sign out', run: () => void signOut() },
  ]
  const words = text.toLowerCase().split(/\s+/)
  return all.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word))).slice(0, 12)
}

const placesOf = (me: Me) => [
  ...me.workspaces.map((place) => workspaceScope(me, place)),
  ...(me.scopes.length > 0 ? [organisationScope(me)] : []),
]
