// rules 1: PC2407@2 PC2407@6 PC2407@7 PC2407@8 PC2407@9 PC2407@10
const least = 2147483647i + 1i;
const_assert least == -2147483647i - 1i;
const_assert -(-2147483647i - 1i + 1i) == 2147483647i;
const_assert -least == least;
const_assert 4294967295u + 1u == 0u;
const_assert 0u - 1u == 4294967295u;
const_assert 65536u * 65537u == 65536u;
const_assert all(vec2i(2147483647) * 2 == vec2i(-2));
const_assert dot(vec2u(65536, 65536), vec2u(65536, 65536)) == 0u;
@compute @workgroup_size(64)
fn main() { }
