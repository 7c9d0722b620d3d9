import { expect, it } from 'vitest'
import { parseMacTable } from './mac-table.ts'

/** As Open vSwitch 3.5 prints it. The age of an entry that somebody wrote is a number once `mac-aging-time` has changed. */
const shown = ` port  VLAN  MAC                Age
LOCAL     0  00:00:00:00:99:fb  static
    2   100  00:00:00:00:99:fe  static
    1   100  00:00:00:00:99:ee   17
   12     0  00:00:00:00:99:fd  -2147429741
`

it('reads where a bridge sends frames', () => {
  expect(parseMacTable(shown)).toEqual([
    { port: 'LOCAL', vlan: 0, mac: '00:00:00:00:99:fb', isStatic: true },
    { port: '2', vlan: 100, mac: '00:00:00:00:99:fe', isStatic: true },
    { port: '1', vlan: 100, mac: '00:00:00:00:99:ee', isStatic: false },
    { port: '12', vlan: 0, mac: '00:00:00:00:99:fd', isStatic: false },
  ])
})

it('reads nothing where nothing is known', () => {
  expect(parseMacTable(' port  VLAN  MAC                Age\n')).toEqual([])
})
