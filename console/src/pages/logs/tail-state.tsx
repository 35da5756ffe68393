import { useEffect, useRef, useState } from 'react'
import { count } from '../../api/figures.ts'
import type { Tail } from './use-tail.ts'

const saidEveryMs = 10_000

/** The state of the stream of new requests. Their number is said once in a while, and not each request. */
export function TailState({ tail }: { readonly tail: Tail }) {
  const { isOpen, dropped, rows } = tail
  const said = useSaid(tail.came)
  const wasOpen = useRef(false)
  useEffect(() => {
    if (isOpen) wasOpen.current = true
  }, [isOpen])
  const state = isOpen
    ? 'Listening for requests…'
    : wasOpen.current
      ? 'The stream broke off. It is being opened again, and goes on where it ended.'
      : 'The stream is being opened.'
  return (
    <>
      <p className="hint" role="status">
        {state}
        {dropped > 0 && ` Too many came to show all of them: ${count(rows.length)} of ${count(rows.length + dropped)} are shown.`}
      </p>
      <p className="hidden" role="status">
        {said}
      </p>
    </>
  )
}

/** Returns how many have come since it was said last. */
function useSaid(came: number): string {
  const [said, setSaid] = useState('')
  const latest = useRef(came)
  latest.current = came
  useEffect(() => {
    let told = 0
    const timer = setInterval(() => {
      const fresh = latest.current - told
      told = latest.current
      setSaid(fresh <= 0 ? '' : `${count(fresh)} new ${fresh === 1 ? 'request' : 'requests'}`)
    }, saidEveryMs)
    return () => clearInterval(timer)
  }, [])
  return said
}
