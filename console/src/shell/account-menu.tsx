import { Button, Menu, useMantineColorScheme } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { signOut, useMe } from './session.tsx'

const themes = [
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['auto', 'As the system'],
] as const

/** The menu of the person: their page, the theme, signing out. */
export function AccountMenu() {
  const { user } = useMe()
  const navigate = useNavigate()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <>
      <span className="text-of-data">{user.email}</span>
      <Menu position="top-start" withinPortal>
        <Menu.Target>
          <Button variant="default">Your account</Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void navigate({ to: '/me' as never })}>Your account</Menu.Item>
          {themes.map(([value, word]) => (
            <Menu.Item key={value} onClick={() => setColorScheme(value)}>
              {word}
              {colorScheme === value && ' ✓'}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => void signOut()}>Sign out</Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
