import { useEffect, useState } from 'react'

/** The choices of a person that are kept in this browser, with their values; the first one is the usual one. */
const settings = {
  density: ['usual', 'compact', 'comfortable'],
  shortcuts: ['on', 'off'],
  facets: ['on', 'off'],
} as const

type Name = keyof typeof settings
type Value<N extends Name> = (typeof settings)[N][number]

const changes = new EventTarget()
const keyOf = (name: Name): string => `gatehouse-${name}`

/** Returns a choice as it is stored; an unknown value counts as the usual one. */
export function settingOf<N extends Name>(name: N): Value<N> {
  const values: readonly Value<N>[] = settings[name]
  const stored = localStorage.getItem(keyOf(name))
  return values.find((one) => one === stored) ?? (values[0] as Value<N>)
}

/** A choice of the person; all places that show it follow, in other tabs too. */
export function useSetting<N extends Name>(name: N): readonly [Value<N>, (value: Value<N>) => void] {
  const [value, setValue] = useState(() => settingOf(name))
  useEffect(() => {
    const follow = () => setValue(settingOf(name))
    changes.addEventListener(name, follow)
    addEventListener('storage', follow)
    return () => {
      changes.removeEventListener(name, follow)
      removeEventListener('storage', follow)
    }
  }, [name])
  const change = (to: Value<N>) => {
    localStorage.setItem(keyOf(name), to)
    changes.dispatchEvent(new Event(name))
  }
  return [value, change]
}
