import { parseMac } from '@kube-ovn/ip'
import { describe, expect, it } from 'vitest'
import { parseDhcpOptions, withDefaults } from './dhcp-options.ts'

describe('parseDhcpOptions', () => {
  it.each([
    [4, '', {}],
    [4, ' lease_time = 3600 , router=10.0.0.1,', { lease_time: '3600', router: '10.0.0.1' }],
    [4, 'dns_server={8.8.8.8;8.8.4.4},mtu=01400', { dns_server: '{8.8.8.8,8.8.4.4}', mtu: '1400' }],
    [4, 'ntp_server={10.0.0.1,10.0.0.2},T1=5', { ntp_server: '{10.0.0.1,10.0.0.2}', T1: '5' }],
    [4, 'server_mac=00:00:5E:00:53:01', { server_mac: '00:00:5E:00:53:01' }],
    [4, 'domain_name="two words, a=b"', { domain_name: '"two words, a=b"' }],
    [4, 'domain_search_list="a.com;b.org"', { domain_search_list: '"a.com,b.org"' }],
    [4, 'tftp_server="boot.example.com"', { tftp_server: '"boot.example.com"' }],
    [
      4,
      'classless_static_route={30.0.0.0/24;10.0.0.10;0.0.0.0/0;10.0.0.1}',
      { classless_static_route: '{30.0.0.0/24,10.0.0.10,0.0.0.0/0,10.0.0.1}' },
    ],
    [
      6,
      'dns_server={fd00::1;fd00::2},dhcpv6_stateless=true',
      { dns_server: '{fd00::1,fd00::2}', dhcpv6_stateless: 'true' },
    ],
    [6, 'domain_search="example.com"', { domain_search: '"example.com"' }],
  ] as const)('of DHCPv%i reads %j', (family, text, want) => {
    expect(parseDhcpOptions(text, family, 'f')).toEqual(want)
  })

  it.each([
    [4, 'lease_time', 'lease_time', 'write key=value'],
    [4, 'lease_time=', 'lease_time=', 'write key=value'],
    [4, 'a=b=c', 'a=b=c', 'write key=value'],
    [4, 'mtu=1400,mtu=1401', 'mtu=1401', 'write mtu once'],
    [4, 'leasetime=1', 'leasetime=1', 'name one of T1, T2, arp_cache_timeout'],
    [4, 'constructor=1', 'constructor=1', 'name one of'],
    [4, 'netmask=255.0.0.0', 'netmask=255.0.0.0', 'name one of'],
    [6, 'lease_time=1', 'lease_time=1', 'name one of bootfile_name, bootfile_name_alt, dhcpv6_stateless'],
    [4, 'lease_time=-1', 'lease_time=-1', 'a number from 0 to 4294967295'],
    [4, 'lease_time=4294967296', 'lease_time=4294967296', 'a number from 0'],
    [4, 'mtu=67', 'mtu=67', 'a number from 68 to 65535'],
    [4, 'router=fd00::1', 'router=fd00::1', 'an IPv4 address'],
    [4, 'dns_server=8.8.8.8;8.8.4.4', 'dns_server=8.8.8.8;8.8.4.4', '{10.0.0.1;10.0.0.2}'],
    [4, 'dns_server={8.8.8.8', 'dns_server={8.8.8.8', '{10.0.0.1;10.0.0.2}'],
    [4, 'dns_server={}', 'dns_server={}', '{10.0.0.1;10.0.0.2}'],
    [4, `dns_server={${'8.8.8.8;'.repeat(63)}8.8.4.4}`, undefined, 'of at most 63'],
    [4, 'server_id={10.0.0.1;10.0.0.2}', 'server_id={10.0.0.1;10.0.0.2}', 'server_id=an IPv4 address'],
    [4, 'domain_name=example.com', 'domain_name=example.com', 'in quotation marks'],
    [4, 'domain_name="a\\"', 'domain_name="a\\"', 'without backslashes'],
    [4, `domain_name="${'a'.repeat(256)}"`, undefined, 'of at most 255 characters'],
    [4, 'domain_search_list="a..b"', 'domain_search_list="a..b"', 'names in quotation marks'],
    [4, 'ip_forward_enable=true', 'ip_forward_enable=true', '0 or 1'],
    [4, 'classless_static_route={30.0.0.0/24}', 'classless_static_route={30.0.0.0/24}', 'the next hop'],
    [6, 'server_id=10.0.0.1', 'server_id=10.0.0.1', 'six bytes'],
    [6, 'dns_server=8.8.8.8', 'dns_server=8.8.8.8', 'an IPv6 address'],
  ] as const)('of DHCPv%i refuses %s', (family, text, value, cure) => {
    const told = { field: 'f', cure: expect.stringContaining(cure), value: value ?? expect.any(String) }
    expect(() => parseDhcpOptions(text, family, 'f')).toThrow(
      expect.objectContaining({ code: 'option-text-invalid', retry: 'on-change', details: told }),
    )
  })
})

describe('withDefaults', () => {
  const defaults = { mac: parseMac('02:00:5e:00:53:01'), gateway: '10.0.0.1', mtu: 1400 }
  const all = {
    ...{ lease_time: '3600', router: '10.0.0.1', server_id: '169.254.0.254' },
    ...{ server_mac: '02:00:5e:00:53:01', mtu: '1400' },
  }

  it.each([
    [4, {}, all],
    [4, { mtu: '1300', dns_server: '8.8.8.8' }, { ...all, mtu: '1300', dns_server: '8.8.8.8' }],
    [6, {}, { server_id: '02:00:5e:00:53:01' }],
    [6, { server_id: '02:00:5e:00:53:09' }, { server_id: '02:00:5e:00:53:09' }],
  ] as const)('of DHCPv%i for %j', (family, given, want) => {
    expect(withDefaults(given, family, defaults)).toEqual(want)
  })
})
