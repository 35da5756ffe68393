import { createContext, useContext, useEffect, useRef, type ReactNode } from 'react'
import type { ApiFailure } from '../../api/client.ts'
import { Copy } from '../copy.tsx'

/** The labels of the fields of a form, by the paths by which the API names them. */
export type Labels = Readonly<Record<string, string>>

interface Fault {
  readonly param: string
  readonly message: string
}

/** Returns the faults that an answer names. */
const faultsOf = (error: ApiFailure): readonly Fault[] =>
  error.issues.length > 0 ? error.issues : [{ param: error.param ?? '', message: error.message }]

/** Returns the path of the field that a fault belongs to: its own, that of the object or list around it, or the first one within it; null: none. */
function fieldOf(param: string, labels: Labels): string | null {
  const parts = param.replaceAll(/\[\d+\]/g, '').split('.')
  for (let length = parts.length; length > 0; length -= 1) {
    const path = parts.slice(0, length).join('.')
    if (labels[path] !== undefined) return path
  }
  return Object.keys(labels).find((path) => path.startsWith(`${param}.`)) ?? null
}

const FaultContext = createContext<{ readonly error: ApiFailure | null; readonly labels: Labels }>({ error: null, labels: {} })

interface FaultyProps {
  readonly error: ApiFailure | null
  readonly labels: Labels
  readonly children: ReactNode
}

/** Lets the fields within show what the API said about them. */
export const Faulty = ({ error, labels, children }: FaultyProps) => <FaultContext value={{ error, labels }}>{children}</FaultContext>

const idOf = (path: string): string => `field-${path.replaceAll('.', '-')}`

/** Returns the id and the label of a field, and the fault that the API found in it, as the inputs of Mantine take them. */
export function useField(path: string): { readonly id: string; readonly label: string; readonly error: string | undefined } {
  const { error, labels } = useContext(FaultContext)
  const faults = error === null ? [] : faultsOf(error).filter(({ param }) => param !== '' && fieldOf(param, labels) === path)
  return { id: idOf(path), label: labels[path] ?? path, error: faults.map(({ message }) => message).join(' ') || undefined }
}

/** The faults of a form above its buttons, each with a way to its field. It takes the focus when it comes. */
export function FaultList() {
  const { error, labels } = useContext(FaultContext)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (error !== null) box.current?.focus()
  }, [error])
  if (error === null) return null
  const faults = faultsOf(error)
  return (
    <div role="alert" className="state" ref={box} tabIndex={-1}>
      <h2>{faults.length === 1 ? '1 thing needs attention' : `${faults.length} things need attention`}</h2>
      <ul>
        {faults.map(({ param, message }) => (
          <li key={param + message}>
            <FieldLink path={fieldOf(param, labels)} labels={labels} />
            <span className="text-of-data">{message}</span>
          </li>
        ))}
      </ul>
      <details>
        <summary>Details</summary>
        <p className="hint">
          {error.code} {error.param !== null && <code>{error.param}</code>}
        </p>
        {error.requestId !== null && (
          <p className="hint">
            Request <code>{error.requestId}</code> <Copy text={error.requestId} label="Copy the request id" />
          </p>
        )}
      </details>
    </div>
  )
}

const FieldLink = ({ path, labels }: { readonly path: string | null; readonly labels: Labels }) =>
  path === null ? null : (
    <>
      <button type="button" className="link" onClick={() => document.querySelector<HTMLElement>(`#${idOf(path)}`)?.focus()}>
        {labels[path]}
      </button>
      {': '}
    </>
  )
