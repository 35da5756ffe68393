import { useEffect, useRef, type KeyboardEvent } from 'react'

interface Action {
  readonly label: string
  readonly disabled: boolean
  readonly run: () => void
}

interface ActionMenuProps {
  readonly label: string
  /** The element under which it opens. */
  readonly below: HTMLElement
  readonly actions: readonly Action[]
  readonly onClose: () => void
}

const [width, rowHeight] = [180, 32]

/** A menu of actions on something that is no button, such as a cell. Arrows move, Enter runs, Escape and a press elsewhere close it. */
export function ActionMenu({ label, below, actions, onClose }: ActionMenuProps) {
  const box = useRef<HTMLDivElement>(null)
  const items = () => [...(box.current?.querySelectorAll<HTMLElement>('[role="menuitem"]') ?? [])]
  useEffect(() => items()[0]?.focus(), [])
  useEffect(() => {
    const listen = ({ target }: Event) => {
      if (target instanceof Node && box.current?.contains(target) !== true) onClose()
    }
    addEventListener('pointerdown', listen)
    return () => removeEventListener('pointerdown', listen)
  })
  const onKeyDown = (event: KeyboardEvent) => {
    const all = items()
    const at = all.findIndex((item) => item === document.activeElement)
    const moves: Readonly<Record<string, number>> = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (at + all.length - 1) % all.length,
      Home: 0,
      End: all.length - 1,
    }
    const to = moves[event.key]
    if (to !== undefined) all[to]?.focus()
    else if (event.key === 'Escape' || event.key === 'Tab') onClose()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const { left, bottom, top } = below.getBoundingClientRect()
  const height = actions.length * rowHeight + 8
  const place = {
    left: Math.max(0, Math.min(left, innerWidth - width)),
    top: bottom + height > innerHeight ? Math.max(0, top - height) : bottom,
    width,
  }
  return (
    <div ref={box} role="menu" aria-label={label} className="action-menu" style={place} onKeyDown={onKeyDown}>
      {actions.map((action) => (
        <button
          key={action.label}
          type="button"
          role="menuitem"
          tabIndex={-1}
          aria-disabled={action.disabled}
          onClick={() => {
            if (action.disabled) return
            onClose()
            action.run()
          }}
        >
          {action.label}
        </button>
      ))}
    </div>
  )
}
