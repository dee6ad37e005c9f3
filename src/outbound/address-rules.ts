import { BlockList, isIP } from 'node:net'

/** Whether a definition may reach loopback and private addresses. */
export type PrivateTargets = 'allow' | 'refuse'

/** Why a host must not be contacted, judged by its name alone; undefined if its addresses decide. */
export function refusedHost(hostname: string, privateTargets: PrivateTargets): string | undefined {
  const name = hostname.replace(/^\[|\]$/g, '')
  if (isIP(name) !== 0) {
    const why = refusedAddress(name, privateTargets)
    return why === undefined ? undefined : `${name} is ${why}`
  }
  const bare = name.toLowerCase().replace(/\.+$/, '')
  return metadataNames.has(bare) ? `${bare} is the metadata service of a cloud` : undefined
}

/** Why an address must not be connected to; undefined if it may. */
export function refusedAddress(address: string, privateTargets: PrivateTargets): string | undefined {
  const [bare = ''] = address.split('%')
  const forms = [bare, ...embeddedAddresses(bare)]
  if (forms.some((form) => isListed(neverReached, form))) return 'a link-local or metadata address'
  if (privateTargets === 'refuse' && forms.some((form) => isListed(privateRanges, form))) {
    return 'a private address, which definitions made through the API may not reach'
  }
  return undefined
}

const metadataNames: ReadonlySet<string> = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
])

/** These addresses give out the credentials of the machine; no definition has a reason to reach them. */
const neverReached = rangesOf([
  '169.254.0.0/16',
  'fe80::/10',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
])

const privateRanges = rangesOf([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '224.0.0.0/3',
  '::/127',
  'fc00::/7',
  'fec0::/10',
  'ff00::/8',
])

function rangesOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits = ''] = range.split('/')
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

function isListed(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

/** The IPv4 addresses embedded in an IPv6 address: mapped, compatible, translated (64:ff9b::/96) and 6to4. */
function embeddedAddresses(address: string): readonly string[] {
  if (isIP(address) !== 6) return []
  const groups = groupsOf(address)
  const [first = 0, second = 0, third = 0] = groups
  const last = dotted(groups[6] ?? 0, groups[7] ?? 0)
  const isPadded = groups.slice(0, 5).every((group) => group === 0)
  if (isPadded && (groups[5] === 0xffff || groups[5] === 0)) return [last]
  if (first === 0x64 && second === 0xff9b) return [last]
  return first === 0x2002 ? [dotted(second, third)] : []
}

/** The eight groups of an IPv6 address in any notation. */
function groupsOf(address: string): readonly number[] {
  // The URL parser normalises an address: no dots, at most one gap.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const before = numbersOf(head)
  if (tail === undefined) return before
  const after = numbersOf(tail)
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}

function numbersOf(part: string): number[] {
  return part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
