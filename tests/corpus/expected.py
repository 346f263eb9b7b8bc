# SPDX-License-Identifier: Apache-2.0
"""expected - turns the oracle's records (element keys and wire octets in hex) into what `--format flat` has to say.

Written from docs/documents.md and the element registry alone, so that it shares no code with the program.
"""
import datetime
import ipaddress
import struct

UNSIGNED, SIGNED = ('unsigned8', 'unsigned16', 'unsigned32', 'unsigned64'), ('signed8', 'signed16', 'signed32', 'signed64')
SCOPE = {1: 'system', 2: 'interface', 3: 'lineCard', 4: 'cache', 5: 'template'}
FIXED = {
    'srcaddr': 8, 'dstaddr': 12, 'nexthop': 15, 'inputint': 10, 'outputint': 14, 'packets': 2, 'octets': 1,
    'timestart': 22, 'timeend': 21, 'srcport': 7, 'dstport': 11, 'tcpflags': 6, 'protocol': 4, 'tos': 5,
    'srcas': 16, 'dstas': 17, 'srcmask': 9, 'dstmask': 13,
}
HIDDEN = {'padding', 'reserved', 'flags', 'routersc'}


def load_elements(path):
    """(pen, id) -> (name, type); pen 'v9' is NetFlow v9's own number space."""
    table = {}
    with open(path, encoding='utf-8') as f:
        next(f)
        for line in f:
            pen, ident, name, kind = line.rstrip('\n').split('\t')[:4]
            if ident.isdigit():
                table.setdefault((pen, int(ident)), (name, kind))
    return table


def date(seconds, fraction, digits):
    stamp = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
    text = stamp.strftime('%Y-%m-%dT%H:%M:%S').rjust(19, '0')
    return text + ('.%0*d' % (digits, fraction) if digits else '') + 'Z'


def ntp(raw, digits):
    seconds, fraction = struct.unpack('!II', raw)
    unix = seconds - 2208988800 + (0 if seconds & 0x80000000 else 1 << 32)
    value = (fraction * 10 ** digits + (1 << 31)) >> 32
    return date(unix + value // 10 ** digits, value % 10 ** digits, digits)


def value(kind, raw):
    """The JSON value of these octets, as Python reads it."""
    n = len(raw)
    if n == 0:
        return ''
    if kind in UNSIGNED and n <= 8:
        return int.from_bytes(raw, 'big')
    if kind in SIGNED and n <= 8:
        return int.from_bytes(raw, 'big', signed=True)
    if kind in ('float32', 'float64') and n in (4, 8):
        return ('float', struct.unpack('!f' if n == 4 else '!d', raw)[0], n)
    if kind == 'boolean' and n == 1:
        return {1: True, 2: False}.get(raw[0], raw[0])
    if kind == 'macAddress' and n == 6:
        return '-'.join('%02X' % b for b in raw)
    if kind.lower() == 'ipv6address' and n == 16 and raw[:12] == bytes(10) + b'\xff\xff':
        return '::ffff:' + str(ipaddress.ip_address(raw[12:]))  # RFC 5952 section 5
    if kind == 'ipv4Address' and n == 4 or kind.lower() == 'ipv6address' and n == 16:
        return str(ipaddress.ip_address(raw))
    if kind == 'string':
        return raw.rstrip(b'\0').decode('utf-8', 'replace')
    if kind == 'dateTimeSeconds' and n == 4:
        return date(int.from_bytes(raw, 'big'), 0, 0)
    if kind == 'dateTimeMilliseconds' and n == 8:
        ms = int.from_bytes(raw, 'big')
        return date(ms // 1000, ms % 1000, 3) if ms < 9223372036854 else raw.hex()
    if kind == 'dateTimeMicroseconds' and n == 8:
        return ntp(raw, 6)
    if kind == 'dateTimeNanoseconds' and n == 8:
        return ntp(raw, 9)
    return raw.hex()


def same(want, got):
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(same(w, g) for w, g in zip(want, got))
    if isinstance(want, tuple):
        _, number, n = want
        if number != number or number in (float('inf'), float('-inf')):
            return got == {float('inf'): 'Infinity', float('-inf'): '-Infinity'}.get(number, 'NaN')
        return isinstance(got, (int, float)) and struct.pack('!f' if n == 4 else '!d', got) == struct.pack(
            '!f' if n == 4 else '!d', number)
    if isinstance(want, str) and isinstance(got, str) and '\ufffd' in want:
        # how many replacement characters a bad sequence gives is the reader's choice
        return ''.join(want.split('\ufffd')) == ''.join(got.split('\ufffd'))
    return type(want) is type(got) and want == got


class Expectation:
    """The expected documents of one capture."""

    def __init__(self, elements, oracle):
        self.elements = elements
        self.headers = {}
        for d in oracle['datagrams']:
            self.headers.setdefault((d['frame'], d['src'], d['sport'], d['domain']), []).append(d)
        self.scopes = {}
        for t in oracle['templates']:
            key = (t['src'], t['sport'], t['domain'], t['id'], tuple(k for k, _ in t['fields']))
            self.scopes[key] = t['scope']
        self.documents = [self.document(r) for r in oracle['records']]

    def name(self, version, key):
        if key.startswith('scope:'):
            ident = int(key[6:])
            return 'scope.' + SCOPE.get(ident, 'e0_%d' % ident), 'unsigned32' if ident in SCOPE else 'octetArray'
        pen, ident = key.split('/') if '/' in key else ('0', key)
        known = self.elements.get((pen, int(ident)))
        if known is None and version == 9:
            known = self.elements.get(('v9', int(ident)))
        return known or ('e%s_%s' % (pen, ident), 'octetArray')

    def document(self, r):
        key = (r['src'], r['sport'], r['domain'], r['template'], tuple(f[0] for f in r['fields']))
        n_scope = self.scopes.get(key, 0) if r['kind'] == 'options' else 0
        fields = {}
        for i, field in enumerate(r['fields']):
            if r['template'] is None:
                if field[0] in HIDDEN:
                    continue
                name, kind = self.elements[('0', FIXED[field[0]])]
            else:
                name, kind = self.name(r['version'], field[0])
                if i < n_scope and not name.startswith('scope.'):
                    name = 'scope.' + name
            fields.setdefault(name, []).append(value(kind, bytes.fromhex(field[1])))
        doc = {'type': 'options' if r['kind'] == 'options' else 'flow', 'exporter': r['src'], 'port': r['sport'],
               'version': r['version'], 'domain': r['domain'] or 0, 'template': r['template'] or 0}
        heads = self.headers.get((r['frame'], r['src'], r['sport'], r['domain']), [])
        if len(heads) == 1:
            doc['sequence'] = heads[0]['seq'] or 0
            doc['exported'] = date(heads[0]['time'], 0, 0)[:19]
        return doc, {k: v[0] if len(v) == 1 else v for k, v in fields.items()}


def matches(want, got):
    """None, or what differs."""
    header, fields = want
    rest = dict(got)
    received = rest.pop('received', None)
    if not isinstance(received, str):
        return 'received is missing'
    exported = rest.pop('exported', '')
    for k, v in header.items():
        have = exported[:19] if k == 'exported' else rest.pop(k, None)
        if have != v:
            return '%s: expected %r, got %r' % (k, v, have)
    rest.pop('sequence', None)
    for k, v in fields.items():
        if k not in rest:
            return '%s is missing' % k
        if not same(v, rest[k]):
            return '%s: expected %r, got %r' % (k, v, rest[k])
    if set(rest) != set(fields):
        return 'unexpected members %s' % sorted(set(rest) - set(fields))
    if [k for k in rest if k in fields] != list(fields):
        return 'fields are not in template order'
    return None
