package raw

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// A writer appends a value that is not null as JSON.
type writer func(dst []byte, v *parquet.Value) []byte

// writerOf returns the writer of the column that e describes, by the rules at
// [Options].
func writerOf(e *format.SchemaElement) writer {
	physical := parquet.Kind(e.Type.V)
	converted := deprecated.ConvertedType(-1)
	if e.ConvertedType.Valid {
		converted = e.ConvertedType.V
	}
	switch lt := e.LogicalType.Value.(type) {
	case *format.DecimalType:
		return decimal(physical, lt.Scale)
	case *format.TimestampType:
		return timestamp(unitOf(lt.Unit), lt.IsAdjustedToUTC)
	case *format.TimeType:
		return timeOfDay(physical, unitOf(lt.Unit))
	case *format.DateType:
		return date
	case *format.IntType:
		if !lt.IsSigned {
			return unsigned(physical)
		}
	case *format.UUIDType:
		return uuid
	case *format.Float16Type:
		return half
	case *format.StringType, *format.EnumType, *format.JsonType:
		return text
	case nil:
		switch converted {
		case deprecated.UTF8, deprecated.Enum, deprecated.Json:
			return text
		case deprecated.Decimal:
			return decimal(physical, e.Scale.V)
		case deprecated.Date:
			return date
		case deprecated.TimeMillis:
			return timeOfDay(physical, time.Millisecond)
		case deprecated.TimeMicros:
			return timeOfDay(physical, time.Microsecond)
		case deprecated.TimestampMillis:
			return timestamp(time.Millisecond, true)
		case deprecated.TimestampMicros:
			return timestamp(time.Microsecond, true)
		case deprecated.Uint8, deprecated.Uint16, deprecated.Uint32, deprecated.Uint64:
			return unsigned(physical)
		}
	}
	return plain(physical)
}

// plain returns the writer of a physical type without an annotation.
func plain(physical parquet.Kind) writer {
	switch physical {
	case parquet.Boolean:
		return func(dst []byte, v *parquet.Value) []byte { return strconv.AppendBool(dst, v.Boolean()) }
	case parquet.Int32:
		return func(dst []byte, v *parquet.Value) []byte { return strconv.AppendInt(dst, int64(v.Int32()), 10) }
	case parquet.Int64:
		return func(dst []byte, v *parquet.Value) []byte { return strconv.AppendInt(dst, v.Int64(), 10) }
	case parquet.Int96:
		return int96
	case parquet.Float:
		return func(dst []byte, v *parquet.Value) []byte { return appendFloat(dst, float64(v.Float()), 32) }
	case parquet.Double:
		return func(dst []byte, v *parquet.Value) []byte { return appendFloat(dst, v.Double(), 64) }
	case parquet.ByteArray:
		return binaryText
	}
	return base64Text
}

// unsigned returns the writer of integers whose sign bit is a digit.
func unsigned(physical parquet.Kind) writer {
	if physical == parquet.Int32 {
		return func(dst []byte, v *parquet.Value) []byte { return strconv.AppendUint(dst, uint64(v.Uint32()), 10) }
	}
	return func(dst []byte, v *parquet.Value) []byte { return strconv.AppendUint(dst, v.Uint64(), 10) }
}

// text writes text; invalid UTF-8 in it becomes U+FFFD.
func text(dst []byte, v *parquet.Value) []byte { return appendText(dst, v.ByteArray()) }

// binaryText writes bytes without an annotation, which old writers use for text
// too.
func binaryText(dst []byte, v *parquet.Value) []byte {
	if utf8.Valid(v.ByteArray()) {
		return text(dst, v)
	}
	return base64Text(dst, v)
}

func base64Text(dst []byte, v *parquet.Value) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v.ByteArray()), '"')
}

func uuid(dst []byte, v *parquet.Value) []byte {
	b := v.ByteArray()
	if len(b) != 16 {
		return base64Text(dst, v)
	}
	dst = append(dst, '"')
	for i, end := range [5]int{4, 6, 8, 10, 16} {
		if i > 0 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, b[[5]int{0, 4, 6, 8, 10}[i]:end])
	}
	return append(dst, '"')
}

// appendFloat appends the shortest text that reads back as f, or null if f is
// no number of JSON.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	// The exponents where it turns to scientific notation are those of
	// ECMAScript and of most JSON writers.
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return strconv.AppendFloat(dst, f, 'e', -1, bits)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

// half writes a number of 16 bits: 1 sign, 5 exponent, 10 fraction.
func half(dst []byte, v *parquet.Value) []byte {
	b := v.ByteArray()
	if len(b) != 2 {
		return base64Text(dst, v)
	}
	h := binary.LittleEndian.Uint16(b)
	exponent, fraction := int(h>>10&31), float64(h&1023)
	var f float64
	switch exponent {
	case 0:
		f = math.Ldexp(fraction, -24)
	case 31:
		f = math.Inf(1) // or no number, which is written alike
	default:
		f = math.Ldexp(1024+fraction, exponent-25)
	}
	if h>>15 != 0 {
		f = -f
	}
	return appendFloat(dst, f, 32)
}

// maxScale bounds the digits after the point of a decimal: those of 256 bits.
const maxScale = 76

// decimal returns the writer of decimals with that many digits after the point,
// as numbers with exactly these digits.
func decimal(physical parquet.Kind, scale int32) writer {
	if scale < 0 || scale > maxScale {
		return plain(physical)
	}
	return func(dst []byte, v *parquet.Value) []byte {
		switch physical {
		case parquet.Int32:
			return appendScaled(dst, strconv.AppendInt(nil, int64(v.Int32()), 10), int(scale))
		case parquet.Int64:
			return appendScaled(dst, strconv.AppendInt(nil, v.Int64(), 10), int(scale))
		case parquet.ByteArray, parquet.FixedLenByteArray:
			b := v.ByteArray()
			if len(b) == 0 || len(b) > 64 { // 512 bits; no writer uses more
				return base64Text(dst, v)
			}
			n := new(big.Int).SetBytes(b)
			if b[0]&0x80 != 0 { // two's complement
				n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
			}
			return appendScaled(dst, n.Append(nil, 10), int(scale))
		}
		return plain(physical)(dst, v)
	}
}

// appendScaled appends an integer with a point before its last digits.
func appendScaled(dst, digits []byte, scale int) []byte {
	if digits[0] == '-' {
		dst, digits = append(dst, '-'), digits[1:]
	}
	if scale == 0 {
		return append(dst, digits...)
	}
	whole := max(len(digits)-scale, 0)
	if whole == 0 {
		dst = append(dst, '0')
	}
	dst = append(append(dst, digits[:whole]...), '.')
	for range scale - len(digits) {
		dst = append(dst, '0')
	}
	return append(dst, digits[whole:]...)
}

func date(dst []byte, v *parquet.Value) []byte {
	return time.Unix(int64(v.Int32())*86400, 0).UTC().AppendFormat(dst, `"2006-01-02"`)
}

func unitOf(u format.TimeUnit) time.Duration {
	if u.Value == nil {
		return time.Microsecond
	}
	return u.Value.Duration()
}

// timestamp returns the writer of moments in that unit since 1970.
func timestamp(unit time.Duration, utc bool) writer {
	layout := `"2006-01-02T15:04:05.999999999"`
	if utc {
		layout = `"2006-01-02T15:04:05.999999999Z"`
	}
	perSecond := int64(time.Second / unit)
	return func(dst []byte, v *parquet.Value) []byte {
		n := v.Int64()
		return time.Unix(n/perSecond, n%perSecond*int64(unit)).UTC().AppendFormat(dst, layout)
	}
}

// int96 writes the old form of timestamps: nanoseconds of the day, then the
// Julian day.
func int96(dst []byte, v *parquet.Value) []byte {
	const epoch = 2440588 // the Julian day of 1970-01-01
	n := v.Int96()
	nanos := int64(uint64(n[1])<<32 | uint64(n[0]))
	t := time.Unix((int64(n[2])-epoch)*86400, 0).UTC().Add(time.Duration(nanos))
	return t.AppendFormat(dst, `"2006-01-02T15:04:05.999999999"`)
}

// timeOfDay returns the writer of times since midnight.
func timeOfDay(physical parquet.Kind, unit time.Duration) writer {
	return func(dst []byte, v *parquet.Value) []byte {
		n := v.Int64()
		if physical == parquet.Int32 {
			n = int64(v.Int32())
		}
		n %= int64(24 * time.Hour / unit)
		return time.Unix(0, n*int64(unit)).UTC().AppendFormat(dst, `"15:04:05.999999999"`)
	}
}
