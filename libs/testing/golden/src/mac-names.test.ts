import { expect, it } from 'vitest'
import { MacNames } from './mac-names.ts'

it('names addresses after their first owner, in any case of letters', () => {
  const macs = new MacNames('')
  macs.learn('0A:00:00:00:00:01 10.0.0.2', 'port')
  macs.learn('0a:00:00:00:00:01', 'other')
  expect(macs.apply('0a:00:00:00:00:01 10.0.0.2')).toBe('<mac:port> 10.0.0.2')
})

it('keeps what the manifests contain and multicast, and shows what nobody owns', () => {
  const macs = new MacNames('mac_address: 00:00:00:53:6B:B1')
  macs.learn('00:00:00:53:6b:b1', 'port')
  expect(macs.apply('00:00:00:53:6b:b1 33:33:00:00:00:01 0a:00:00:00:00:09')).toBe(
    '00:00:00:53:6b:b1 33:33:00:00:00:01 <mac:?>',
  )
})
