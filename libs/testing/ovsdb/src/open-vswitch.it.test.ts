import { expect, it } from 'vitest'
import { startOpenVswitch } from './open-vswitch.ts'

it('takes what is written, with nobody there to act on it', async () => {
  await using database = await startOpenVswitch()
  await database.vsctl('add-br', 'br-int', '--', 'set', 'Open_vSwitch', '.', 'external_ids:system-id=node-a')
  expect(await database.vsctl('list-br')).toBe('br-int')
  expect(await database.vsctl('get', 'Open_vSwitch', '.', 'external_ids:system-id')).toBe('node-a')
})
