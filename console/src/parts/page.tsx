import { useEffect, useRef, type ReactNode } from 'react'
import { useScope } from '../shell/scope.ts'

interface PageProps {
  readonly title: string
  /** Buttons beside the title. */
  readonly tools?: ReactNode
  readonly children: ReactNode
}

/** The frame of each page: its one heading, which gets the focus when the page opens, and the title of the window. */
export function Page({ title, tools, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const scope = useScope()
  useEffect(() => {
    document.title = [title, scope?.name, 'Gatehouse'].filter(Boolean).join(' · ')
  }, [title, scope?.name])
  useEffect(() => heading.current?.focus({ preventScroll: true }), [title])
  return (
    <>
      <div className="head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {tools}
      </div>
      {children}
    </>
  )
}
